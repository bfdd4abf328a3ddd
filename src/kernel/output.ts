/** Writes to standard output. Resolves when its reader has taken it, and rejects when nobody reads any more. */
export const print = (text: string) =>
	new Promise<void>((done, failed) => process.stdout.write(text, (error) => (error ? failed(error) : done())));
