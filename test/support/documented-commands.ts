/**
 * Every command that the documents name, and what runs it: a test file, CI, or `npm run bench -- commands` in a short form.
 * `ranBy` also says when no machine without Docker or Slack can run it.
 */
export interface DocumentedCommand {
	/** The command as it stands in the documents, on one line. */
	readonly is: RegExp;
	readonly ranBy: string;
	/** What `npm run bench -- commands` runs: the same command, shortened. */
	readonly short?: string;
}

const script = (is: RegExp, short: string): DocumentedCommand => ({ is, ranBy: 'npm run bench -- commands', short });
const by = (ranBy: string, is: RegExp): DocumentedCommand => ({ is, ranBy });

export const COMMANDS: readonly DocumentedCommand[] = [
	by('.ci/run', /^npm ci$/),
	by('.ci/run', /^npm run check$/),
	by('tools/ops/check.test.ts', /^npm run check:ops$/),
	by('tools/manifest/check-manifest.test.ts', /^npm run manifest( --silent)?$|^npm run check:manifest$/),
	by('.ci/run', /^npm test$/),
	by('test/operator/licences.test.ts', /^npm sbom --package-lock-only --sbom-format cyclonedx$/),
	by('.ci/run', /^npm run test:long$/),
	by('fake-slack/json-schema/slack-schema.test.ts', /^node fake-slack\/json-schema\/generate\.ts$/),
	by('CI itself', /^bash \.ci\/run$/),
	by('test/main.test.ts', /^npm start$/),
	by('test/store/rights.postgres.test.ts', /^npm run migrate$|^node src\/migrate\.ts$/),
	by(
		'test/operator/service-move.kills.long.test.ts',
		/^npm run migrate -- --service-moved$|^node src\/migrate\.ts --service-moved$/,
	),
	by('sandbox/command.test.ts', /^npm run sandbox( -- --(keep|no-bot|port 5000))?$/),
	by('test/operator/doctor/command.test.ts', /^npm run doctor$|^node (--env-file=\.env )?src\/doctor\.ts$/),
	by('test/main.test.ts', /^node src\/check-node\.js$/),
	by(
		'test/operator/doctor/command.test.ts',
		/^npm run doctor -- (live (agents|<channel>)|may (U0123ABCD agents|<user> <channel>))$/,
	),
	by('test/slack/who-may/who-may.test.ts', /^UPDATE_DOCS=1 npm exec -- vitest run test\/slack\/who-may$/),
	by('test/rekey.postgres.long.test.ts', /^npm run rekey$|^node src\/rekey\.ts$/),
	by('test/operator/drills.long.test.ts', /^npm run (backup -- backup\.db|restore -- (backup\.db|restored))$/),
	by(
		'test/operator/person.test.ts',
		/^npm run person( (--silent )?-- (export|forget) U012ABCDEF( > person\.json)?)?$|^node src\/person\.ts$/,
	),
	by('test/operator/audit-follow.test.ts', /^npm run audit --silent -- --follow$/),
	by('test/operator/audit.test.ts', /^npm run audit( (--silent )?-- --since 2026-11-01( \| grep '"at":"2026-11')?)?$/),
	by('test/operator/person.test.ts', /^npm run settings( -- clear C012ABCDEF)?$/),
	by('test/ask.test.ts', /^npm run ask( -- FILE)?$/),
	script(/^npm run corpus$/, 'npm run corpus'),
	script(/^npm exec -- node test\/domain\/masking\/main\.ts$/, 'npm exec -- node test/domain/masking/main.ts'),
	by('test/operator/drills.long.test.ts', /^(pg_dump|psql|pg_restore) /),
	by('tools/ops/systemd.test.ts', /^npm run check:ops$/),
	by('by hand, where systemd runs', /^\(?cd \/opt\/handraise$|^npm ci --omit=dev --ignore-scripts\)$/),
	by(
		'by hand, where systemd runs',
		/^(install|systemctl|export|cp) |^(DATA_DIR=\S+ )?node (\S+ )?src\/(audit|backup|doctor)\.ts( |$)/,
	),
	by('by hand, with Podman', /^docker (build|run|exec|stop|start)( |$)/),
	by('nobody here: it needs a registry, an engine or a cluster', /^docker (buildx|compose|rm) |^kubectl /),
	// It must not reach a workspace that `.env` names, and has to say what is missing.
	script(/^npm run dev$/, 'SLACK_BOT_TOKEN= timeout 5 npm run dev 2>&1 | grep SLACK_BOT_TOKEN'),
	script(/^npm exec -- vitest run test\/config\.test\.ts$/, 'npm exec -- vitest run test/config.test.ts'),
	script(
		/^npm exec -- vitest --changed --project=rules --project=program$/,
		'npm exec -- vitest run --changed --project=rules --project=program --passWithNoTests',
	),
	script(/^npm exec -- vitest run --project=postgres$/, 'npm exec -- vitest run --project=postgres test/slack'),
	script(/^npm run test:rules$/, 'npm run test:rules'),
	script(/^npm run test:doubles$/, 'npm run test:doubles'),
	script(/^npm run test:all$/, 'npm run test:all -- test/config.test.ts'),
	script(/^openssl rand -(base64 32|hex 24)( > \S+)?$/, 'openssl rand -base64 32 && openssl rand -hex 24'),
	script(
		/^sqlite3 data\/handraise\.db VACUUM$/,
		'sqlite3 "$TMPDIR/x.db" "create table t (a)" && sqlite3 "$TMPDIR/x.db" VACUUM',
	),
	script(
		/^npm run faults -- answers( --[a-z]+ [A-Za-z0-9-]+)*$/,
		'npm run faults -- answers --rounds 8 --duels 2 --stops 1 --presses 0 --press-duels 0 --undos 0 --store sqlite --seed 11',
	),
	script(
		/^npm run faults -- answers .*--presses \d+ --press-duels \d+ --undos \d+( --failovers 0)? --seed \d+$/,
		'npm run faults -- answers --rounds 0 --duels 0 --stops 0 --presses 8 --press-duels 4 --undos 4 --store sqlite --seed 12',
	),
	script(
		/^npm run faults -- watches$/,
		'npm run faults -- watches --sessions 5 --kills 1 --questions 2 --store sqlite --history both',
	),
	script(
		/^npm run faults -- reminder-kills( --[a-z]+ \d+)*$/,
		'npm run faults -- reminder-kills --sessions 5 --kills 1 --store sqlite --history readable',
	),
	script(
		/^npm run faults -- keys( --[a-z]+ [a-z0-9-]+)*$/,
		'npm run faults -- keys --kills 1 --values 100 --store sqlite',
	),
	script(/^npm run faults -- powercut$/, 'npm run faults -- powercut --cuts 1'),
	script(/^npm run bench -- figures( --only [a-z]+)?( --rounds \d)?$/, 'npm run bench -- figures --rounds 1'),
	script(/^npm run bench -- figures --only presses .*$/, 'npm run bench -- figures --only presses --rounds 1'),
	script(/^npm run bench -- watching-live --cases '.+'$/, "npm run bench -- watching-live --cases 'ten quiet, a list'"),
	script(/^npm run mutate -- [\w/.-]+$/, 'npm run mutate -- src/domain/compare.ts:50-58'),
	script(
		/^npm run bench -- watching-live( --watches \d+ --minutes \d+ --list)?$/,
		'npm run bench -- watching-live --watches 20 --minutes 0.5 --list',
	),
	script(
		/^npm run bench -- people( --.*)?$/,
		'npm run bench -- people --people 300 --channels 10 --watches 40 --open 20 --homes 20 --acts 5 --crowd 0.5 --minutes 0.5 --quiet 0.2 --settle 1 --store sqlite',
	),
	script(/^npm run bench -- slow-service$/, 'npm run bench -- slow-service --minutes 1'),
	script(/^npm run bench -- statements( --.*)?$/, 'npm run bench -- statements --rounds 1 --minutes 0.1'),
	script(
		/^npm run bench -- large( --.*)?$/,
		'npm run bench -- large --rounds 1 --answers 20000 --questions 1000 --posts 1000 --watches 1000 --session 100 --due 100',
	),
	script(/^npm run bench -- attack( --.*)?$/, 'npm run bench -- attack --only stamps,signed-null'),
	script(/^npm run bench -- (words|sandbox)$/, 'for name in words sandbox; do npm run bench -- $name || exit 1; done'),
	script(/^npm run screenshots$/, 'npm run screenshots'),
	by('package.json', /^npm run (bench -- commands|(faults|bench)( -- NAME)?)$/),
];
