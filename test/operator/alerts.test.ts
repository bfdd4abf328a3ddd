import { globSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { LOG_LINES } from '../../src/kernel/log-lines.ts';
import { readExpression, readRules, type Sample, samplesOf } from '../../tools/ops/rules.ts';
import { beforeAll, DELIVERED, expect, it, openSession, startApp } from '../kit.ts';

const ROOT = new URL('../../', import.meta.url);
const text = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');
/** What each row of the table of alerts and log lines is about, a list for each row. */
const ROWS = [
	...(/^\| alert; `event` in the log \|.*\n\|[-|]*\n((?:\|.*\n)+)/m
		.exec(text('ops/README.md'))?.[1]
		?.matchAll(/^\| ([^|]+) \|/gm) ?? []),
].map(([, cell = '']) => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name));

let samples: readonly Sample[];
/** The names of `/metrics`, also of metrics that have no value yet. */
let names: ReadonlySet<string>;
beforeAll(async () => {
	await using app = await startApp({ transport: 'http' });
	const modal = await openSession(app, 'code');
	await modal.fill(0, '141421');
	await modal.submit();
	await app.slack.as('ada').waitForModal(DELIVERED);
	await fetch(`${app.url}/elsewhere`);
	const exposition = await (await fetch(`${app.url}/metrics`)).text();
	samples = samplesOf(exposition);
	names = new Set(
		[...exposition.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
			type === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
		),
	);
});

it.each(readRules())('$alert reads metrics and labels that the program has', ({ expr }) => {
	for (const { name, labels } of readExpression(expr).selectors) {
		expect(names).toContain(name);
		const known = samples.filter((sample) => sample.name === name).flatMap((sample) => Object.keys(sample.labels));
		expect(known).toEqual(expect.arrayContaining([...labels]));
	}
});

it.each(readRules())('$alert has recorded series in which it fires, and some in which it must not', ({ alert }) => {
	const { tests } = parse(text('ops/alerts.test.yml')) as {
		tests: readonly { alert_rule_test: readonly { alertname: string; exp_alerts?: readonly unknown[] }[] }[];
	};
	const fires = tests
		.map((one) => one.alert_rule_test.filter(({ alertname }) => alertname === alert))
		.filter((asked) => asked.length > 0)
		.map((asked) => asked.some(({ exp_alerts: expected }) => expected !== undefined));
	expect(new Set(fires)).toEqual(new Set([true, false]));
});

it('the table for operators has every alert and every name of a log line once', () => {
	const alerts = readRules().map(({ alert }) => alert);
	expect(ROWS.flat().toSorted()).toEqual([...alerts, ...Object.keys(LOG_LINES)].toSorted());
});

it('the program logs every name', () => {
	const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => path !== 'src/kernel/log-lines.ts');
	const source = sources.map(text).join('\n');
	expect(Object.keys(LOG_LINES).filter((name) => !source.includes(`'${name}'`))).toEqual([]);
});

it('documents name metrics that the program has', () => {
	const documents = ['ops/README.md', ...readdirSync(new URL('docs', ROOT)).map((name) => `docs/${name}`)];
	const named = documents.flatMap((name) => text(name).match(/(?<=[`(])handraise_[a-z_]+/g) ?? []);
	expect(named.length).toBeGreaterThan(20);
	// A role of PostgreSQL.
	expect(named.filter((name) => !names.has(name) && name !== 'handraise_owner')).toEqual([]);
});

it('tells what runs', () => {
	const { version } = JSON.parse(text('package.json')) as { version: string };
	const [build] = samples.filter(({ name }) => name === 'handraise_build_info');
	expect(build).toMatchObject({ value: 1, labels: { version, node: process.versions.node, dialect: 'sqlite' } });
	expect(Number(build?.labels.schema)).toBeGreaterThan(0);
});
