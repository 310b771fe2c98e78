declare module 'parse-prometheus-text-format' {
  interface Family {
    readonly name: string;
    readonly metrics: readonly object[];
  }
  export default function parse(text: string): readonly Family[];
}
