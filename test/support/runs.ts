/** How often a property runs, or how long a hostile text is: in CI (`.ci/run`) as given, elsewhere a quarter. */
export const runs = (count: number): number => (process.env.CI === undefined ? Math.ceil(count / 4) : count);
