/** What is held, and from where on something is only told. */
const LIMITS = {
	columns: 120,
	/** Above it a file is worth a question, which is printed. It is never a place to cut. */
	linesOfFile: 500,
	/** Packages that production installs. */
	packages: 12,
} as const;

/** One line for each file that is so long that somebody should ask why. Nothing fails because of them. */
export function longFiles(files: readonly { readonly path: string; readonly text: string }[]): readonly string[] {
	return files.flatMap(({ path, text }) => {
		const lines = text.split('\n').length - 1;
		return lines > LIMITS.linesOfFile ? [`warning: src/${path} has ${lines} lines: is it one concept?`] : [];
	});
}

/** One line when production needs too many packages. `manifest`: package.json. */
export function tooManyPackages({ dependencies }: { readonly dependencies: object }): readonly string[] {
	const names = Object.keys(dependencies);
	if (names.length <= LIMITS.packages) return [];
	return [`package.json: ${names.length} dependencies, at most ${LIMITS.packages} (${names.join(', ')})`];
}

/** One line for each line of code that is wider than `columns`, where a tab takes two. Word lists are no code. */
export function wideLines(path: string, text: string, columns: number = LIMITS.columns): readonly string[] {
	return text.split('\n').flatMap((line, index) => {
		const width = line.replaceAll('\t', '  ').length;
		return width > columns ? [`src/${path}:${index + 1}: ${width} columns, at most ${columns}`] : [];
	});
}

/** Each line whose words name the command or the app as they are by default: an installation may call them otherwise. */
export function fixedNames(path: string, text: string): readonly string[] {
	if (path === 'kernel/command-name.ts') return [];
	return text.split('\n').flatMap((line, index) => {
		const isComment = /^\s*(\/\*|\*|\/\/)/.test(line);
		const [name] = (isComment ? null : /(?<![\w.\\])\/session(?![\w/-])|@Handraise\b/.exec(line)) ?? [];
		const constant = name === '/session' ? 'COMMAND' : 'APP_NAME';
		return name === undefined ? [] : [`src/${path}:${index + 1}: ${name}, use ${constant} of kernel/command-name.ts`];
	});
}
