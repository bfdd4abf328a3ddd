/**
 * Ends with one line when this Node.js is too old to run TypeScript. The commands of operators in package.json begin with it, and
 * so does the build of the image: an old Node.js can parse neither `main.ts` nor all of its options.
 * An argument stands for the version, for tests.
 */
const version = process.argv[2] ?? process.versions.node;
if (Number.parseInt(version, 10) < 24) {
	process.stderr.write(
		`This is Node.js ${version}; Handraise needs 24 or newer: install it, or run npm ci without --omit=dev, which brings it along.\n`,
	);
	process.exitCode = 1;
}
