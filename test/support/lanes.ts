import type { UserWorkspaceConfig } from 'vitest/config';

/**
 * The lanes of the test suite, as Vitest projects. A file's lane is in its name (`x.postgres.test.ts`, the last one of `x.postgres.long.test.ts`); files without one
 * belong to `rules` when they are listed here, to `doubles` beside the doubles, to `tools` elsewhere outside of `test/`, and otherwise
 * to `program`.
 */
export const NAMED = ['postgres', 'browser', 'kills', 'long'] as const;

/** Pure: no network, no file, no process. `test/support/pure.ts` refuses all but files. */
const RULES = [
	'test/{config,documents}.test.ts',
	'test/kernel/{clock,quiet-hours,rate-limiter}.test.ts',
	'test/store/channel-settings.test.ts',
	'test/surfaces/remind/reminder-rules.test.ts',
	'test/domain/*.test.ts',
	'test/faults/{edits/edit,sabotage}.test.ts',
	'test/service/{body-slots,budget,schema}.test.ts',
	'test/slack/{ids,links,words}.test.ts',
	'test/screens/{question-post,voices}.test.ts',
	'test/screens/inbox.test.ts',
	'test/slack/form/{build,secret-box}.test.ts',
	'test/people/session/parse-command.test.ts',
	'test/people/settings/read.test.ts',
	'test/slack/hostile-repeats.test.ts',
	'test/faults/watches/reminders/judge.test.ts',
];

const ALL = '{fake-session-service,fake-slack,sandbox,test,tools}';
const filesNamed = (...lanes: readonly string[]) => lanes.map((lane) => `${ALL}/**/*.${lane}.test.ts`);

const POSTGRES = './test/support/global-postgres.ts';
const BROWSER = './test/support/global-browser.ts';

const LANES: Record<string, UserWorkspaceConfig['test']> = {
	/** Pure rules. */
	rules: { include: RULES, setupFiles: ['./test/support/pure.ts'] },
	/** The whole program in this process, or a part of it with real I/O, on SQLite. */
	program: { include: ['test/**/*.test.ts'], exclude: [...RULES, ...filesNamed(...NAMED), 'test/support/**'] },
	/** What may differ on PostgreSQL: the store's contract, leases, replicas. */
	postgres: { include: filesNamed('postgres'), globalSetup: [POSTGRES] },
	/** The sandbox's page in a real Chromium. */
	browser: { include: filesNamed('browser'), globalSetup: [BROWSER] },
	/** Processes are killed and databases stopped, for a short time. */
	kills: { include: filesNamed('kills'), globalSetup: [POSTGRES] },
	/** The sandbox and the tools, without the program. */
	tools: { include: ['{sandbox,tools}/**/*.test.ts', 'test/support/**/*.test.ts'], exclude: filesNamed(...NAMED) },
	/** The fake Slack and the fake session service by themselves. Not part of `npm test`: for changes of these, and in CI. */
	doubles: { include: ['{fake-session-service,fake-slack}/**/*.test.ts'] },
	/** Long kill runs, and what takes long in other lanes. Not part of `npm test`. */
	long: { include: filesNamed('long'), globalSetup: [POSTGRES, BROWSER] },
};

export const projects = Object.entries(LANES).map(([name, test]) => ({
	extends: true as const,
	test: { name, ...test },
}));
