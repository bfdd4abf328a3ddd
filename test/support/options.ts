import { parseArgs } from 'node:util';

/** An option of a command: what it is for, and what its text means. `read` gives undefined for a text that it refuses. */
interface Option<Value> {
	readonly about: string;
	/** What the usage shows behind the name: the value without the option, or a word for one. */
	readonly shown: string;
	readonly isFlag?: true;
	readonly fallback: Value;
	read(text: string): Value | undefined;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type Values<O extends Options> = {
	readonly [Name in keyof O]: ReturnType<O[Name]['read']> & O[Name]['fallback'];
};

/** A whole number. */
export function count(
	fallback: number,
	about: string,
	{ least = 0, most = Number.POSITIVE_INFINITY } = {},
): Option<number> {
	function read(text: string) {
		const value = Number(text);
		return /^\d+$/.test(text) && value >= least && value <= most ? value : undefined;
	}
	return { about, shown: String(fallback), fallback, read };
}

/** A number above 0. */
export function amount(fallback: number, about: string): Option<number> {
	return { about, shown: String(fallback), fallback, read: (text) => (Number(text) > 0 ? Number(text) : undefined) };
}

export function oneOf<Name extends string, Fallback extends Name | null>(
	names: readonly Name[],
	fallback: Fallback,
	about: string,
): Option<Name | Fallback> {
	const read = (text: string) => names.find((name) => name === text);
	return { about: `${about}: ${names.join(', ')}`, shown: fallback ?? 'X', fallback, read };
}

/** Several names with commas between them; all of them without the option. */
export function someOf<Name extends string>(names: readonly Name[], about: string): Option<readonly Name[]> {
	function read(text: string) {
		const wanted = text.split(',').map((part) => names.find((name) => name === part));
		return wanted.includes(undefined) ? undefined : wanted.filter((name) => name !== undefined);
	}
	return { about: `${about}: ${names.join(',')}`, shown: 'X,Y', fallback: names, read };
}

export function text<Fallback extends string | null>(
	fallback: Fallback,
	about: string,
	shown = fallback ?? 'X',
): Option<string | Fallback> {
	return { about, shown, fallback, read: (given) => given };
}

export function flag(about: string): Option<boolean> {
	return { about, shown: '', isFlag: true, fallback: false, read: () => true };
}

export function usageOf(command: string, options: Options): string {
	const rows = Object.entries(options).map(([name, { shown, about }]) => [`--${name} ${shown}`.trim(), about] as const);
	const width = Math.max(0, ...rows.map(([name]) => name.length));
	return [`${command} [options]`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)].join('\n');
}

/** The values of a command line. @throws Error with words for who wrote it */
export function parseOptions<O extends Options>(options: O, args: readonly string[]): Values<O> {
	const types = Object.entries(options).map(([name, { isFlag }]) => {
		return [name, { type: isFlag === true ? ('boolean' as const) : ('string' as const) }] as const;
	});
	const { values } = parseArgs({ args: [...args], options: Object.fromEntries(types) });
	const read = Object.entries(options).map(([name, option]) => {
		const given = values[name];
		if (given === undefined) return [name, option.fallback] as const;
		const value = option.read(String(given));
		if (value === undefined) throw new Error(`--${name} cannot be "${String(given)}".`);
		return [name, value] as const;
	});
	return Object.fromEntries(read) as Values<O>;
}

/**
 * The options of this process, which `startNamed` started: they come after its name. Shows them and ends the process when they are
 * wrong (exit code 2), and with `--help`.
 */
export function readOptions<O extends Options>(command: string, options: O): Values<O> {
	const args = process.argv.slice(3);
	if (args.includes('--help')) endWith(0, usageOf(command, options));
	try {
		return parseOptions(options, args);
	} catch (error) {
		return refuseOptions(command, options, error instanceof Error ? error.message : String(error));
	}
}

/** Ends the process because its options do not fit together. */
export function refuseOptions(command: string, options: Options, why: string): never {
	return endWith(2, `${why}\n${usageOf(command, options)}`);
}

/** Starts the program whose name comes first on the command line. Without one that is there, it lists them (exit code 2). */
export async function startNamed(
	command: string,
	programs: Readonly<Record<string, { readonly about: string; start(): Promise<unknown> }>>,
): Promise<void> {
	const [name = ''] = process.argv.slice(2);
	if (Object.hasOwn(programs, name)) return void (await programs[name]?.start());
	const width = Math.max(...Object.keys(programs).map((one) => one.length));
	const list = Object.entries(programs).map(([one, { about }]) => `  ${one.padEnd(width)}  ${about}`);
	const unknown = name === '' || name === '--help' ? [] : [`There is no "${name}".`];
	const lines = [...unknown, `${command} NAME [options], where NAME is one of:`, ...list];
	endWith(name === '--help' ? 0 : 2, lines.join('\n'));
}

function endWith(code: number, lines: string): never {
	process.stderr.write(`${lines}\n`);
	process.exit(code);
}
