const time = '2026-01-15T10:00:00.000000+00:00';

/** A guild with all that Discord lets one have of what the bot reads: 250 roles, 500 channels with 50 overwrites each, 1,000 open threads. */
export function largestGuild(fresh: () => string, member: object) {
  const id = fresh();
  const many = <One extends object>(count: number, one: (index: number) => One) =>
    Array.from({ length: count }, (_, index) => ({ id: fresh(), flags: 0, ...one(index) }));
  const role = { permissions: '1071698660929', color: 0, hoist: false, managed: false, mentionable: true };
  const roles = many(250, (position) => ({ ...role, name: `role ${position}`, position }));
  const overwrites = roles
    .slice(0, 50)
    .map((each) => ({ id: each.id, type: 0, allow: '1024', deny: '2048' }));
  const channels = many(500, (position) => ({
    type: 0,
    name: `channel-${position}`,
    position,
    parent_id: null,
    topic: 'What this channel is about. '.repeat(10),
    nsfw: false,
    rate_limit_per_user: 0,
    last_message_id: fresh(),
    last_pin_timestamp: time,
    permission_overwrites: overwrites,
  }));
  const threads = many(1000, (index) => ({
    type: 11,
    name: `thread ${index}`,
    guild_id: id,
    parent_id: channels[0]?.id,
    owner_id: id,
    last_message_id: fresh(),
    message_count: 5,
    member_count: 3,
    rate_limit_per_user: 0,
    thread_metadata: {
      archived: false,
      locked: false,
      auto_archive_duration: 1440,
      archive_timestamp: time,
      create_timestamp: time,
    },
  }));
  return {
    id,
    name: 'The largest',
    owner_id: id,
    features: ['COMMUNITY'],
    roles: [{ ...role, id, name: '@everyone', position: 0, flags: 0 }, ...roles],
    channels,
    threads,
    members: [member],
    emojis: many(500, (index) => ({ name: `emoji${index}`, roles: [] })),
    joined_at: time,
    member_count: 1_000_000,
    large: true,
    unavailable: false,
  };
}
