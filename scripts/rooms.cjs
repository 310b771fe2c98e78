/**
 * Who may import whom: one line a room of `src/`, checked by dependency-cruiser. A room may always import itself; `bot/`,
 * the wiring, and `main.ts` may import all. ARCHITECTURE.md explains the rooms.
 */
const mayImport = {
  core: [],
  config: ['core'],
  storage: ['core'],
  memory: ['core'],
  prompt: ['core'],
  model: ['core'],
  commands: ['core', 'memory'],
  turn: ['core', 'prompt', 'memory', 'model'],
  discord: ['core'],
  page: ['core'],
  sandbox: [],
  observability: ['core'],
};
mayImport.bot = Object.keys(mayImport);

/** Packages and built-in modules that belong to certain rooms only. */
const keepers = {
  'discord\\.js': ['discord'],
  '@anthropic-ai/sdk': ['model'],
  '(?:node:)?fs(?:/promises)?': ['config', 'storage', 'sandbox', 'bot'],
  fastify: ['sandbox', 'page'],
  '@fastify/.*': ['page'],
  '@modelcontextprotocol/server': ['page'],
  '@remix-run/html-template': ['page'],
  ws: ['sandbox'],
  pino: ['observability'],
  dotenv: ['config'],
};

const roomRules = Object.entries(mayImport).map(([room, rooms]) => ({
  name: `room-${room}`,
  comment: `${room}/ may import only: ${[room, ...rooms].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/(?:${[room, ...rooms].join('|')})/` },
}));

/**
 * Layers of memory import from each other only the port, the ledger, undo, the log and the settings. Recall also reads the
 * formats of others.
 */
const layersMayImport = 'log/|settings/|(?:layer|changes|undo|withheld)\\.ts$';
const recallMayRead = 'durable/(?:document|evidence)\\.ts$|notebook/tree\\.ts$';

const layerRules = [
  {
    name: 'layers-apart',
    severity: 'error',
    from: { path: '^src/memory/([^/]+)/', pathNot: '^src/memory/recall/' },
    to: { path: '^src/memory/', pathNot: `^src/memory/(?:$1/|${layersMayImport})` },
  },
  {
    name: 'recall-reads-formats',
    severity: 'error',
    from: { path: '^src/memory/recall/' },
    to: { path: '^src/memory/', pathNot: `^src/memory/(?:recall/|${layersMayImport}|${recallMayRead})` },
  },
];

const keeperRules = Object.entries(keepers).map(([name, rooms]) => ({
  name: `keeper-of-${name.replace(/[^a-z-]/g, '')}`,
  comment: `only ${rooms.join(', ')} may import ${name}`,
  severity: 'error',
  from: { path: '^src/[^/]+/', pathNot: `^src/(?:${rooms.join('|')})/` },
  to: { path: `(?:^|node_modules/)${name}(?:/|$)` },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    ...layerRules,
    ...keeperRules,
    {
      name: 'known-room',
      comment: 'every folder of src/ is a room of the table',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: `^src/(?:${Object.keys(mayImport).join('|')})/` },
    },
    {
      name: 'page-when-on',
      comment:
        'with the page off nothing of it is loaded but its links and sessions, which lead to the page of another process',
      severity: 'error',
      from: { pathNot: '^src/page/' },
      to: {
        path: '^src/page/',
        pathNot: '^src/page/sign-in\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'mcp-when-on',
      comment: 'nothing that serves other assistants is loaded where they are not served',
      severity: 'error',
      from: {},
      to: { path: '^src/page/mcp\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:test|scripts)/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'declared',
      comment: 'what the product imports stands in dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
