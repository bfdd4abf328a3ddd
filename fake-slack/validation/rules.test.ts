import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { openPayload, type Payload, type PayloadInput } from './payload.ts';
import type { Row } from './rule.ts';
import { type Tables, tables } from './rules.ts';
import { accepted, refused } from './samples/index.ts';
import type { Accepted } from './samples/sample.ts';
import { createSlackValidator, type SlackValidator } from './validator.ts';

type Name = keyof Tables;
type Place = { table: Name; index: number; row: Row };

const names = Object.keys(tables) as Name[];
const rowsOf = (table: Name): readonly Row[] => tables[table];

const places: Place[] = names.flatMap((table) => rowsOf(table).map((row, index) => ({ table, index, row })));

const opened = new Map<unknown, Payload>();

/** Each sample is opened once, because hundreds of validators look at it. */
function openOnce(input: PayloadInput): Payload {
	const payload = opened.get(input.value) ?? openPayload(input);
	if (typeof input.value === 'object' && input.value !== null) opened.set(input.value, payload);
	return payload;
}

const noTables: Tables = { ...tables };
for (const name of names) noTables[name] = [];

/** A validator with one table replaced. */
function withTable(table: Name, rows: readonly Row[], others: Tables = tables): SlackValidator {
	return createSlackValidator({ ...others, [table]: rows }, openOnce);
}

const refuses = (validator: SlackValidator, sample: Accepted) => judge(validator, sample).length > 0;

describe('a row of the tables', () => {
	it.each(places)('is needed: $row.id', ({ table, index, row }) => {
		const alone = withTable(table, [row], noTables);
		const without = withTable(table, rowsOf(table).toSpliced(index, 1));
		// Only what the row refuses can pass without it. The other samples need no second look.
		const concerned = refused.filter((sample) => refuses(alone, sample));
		expect(concerned.some((sample) => !refuses(without, sample))).toBe(true);
	});

	const limits = places.filter(({ row }) => row.limit !== undefined);

	it.each(limits)('has the limit $row.limit and no other: $row.id', ({ table, index, row }) => {
		for (const step of [-1, 1]) {
			const moved = { ...row, limit: (row.limit ?? 0) + step };
			const before = withTable(table, [row], noTables);
			const after = withTable(table, [moved], noTables);
			const changed = withTable(table, rowsOf(table).with(index, moved));
			const concerned = (sample: Accepted) => refuses(before, sample) !== refuses(after, sample);
			const isNoticed =
				refused.filter(concerned).some((sample) => !refuses(changed, sample)) ||
				accepted.filter(concerned).some((sample) => refuses(changed, sample));
			expect({ limit: moved.limit, isNoticed }).toEqual({ limit: moved.limit, isNoticed: true });
		}
	});

	it('has one id and a source for each row', () => {
		expect(new Set(places.map(({ row }) => row.id)).size).toBe(places.length);
		expect(places.filter(({ row }) => row.source === '')).toEqual([]);
	});
});

describe('the samples', () => {
	it('samples import nothing of the rules', () => {
		const folder = join(import.meta.dirname, 'samples');
		const imports = readdirSync(folder).flatMap((name) =>
			[...readFileSync(join(folder, name), 'utf8').matchAll(/ from '([^']+)'/g)].map(([, path]) => path),
		);
		expect(imports).toContain('./sample.ts');
		expect(imports.filter((path) => !/^\.\/[a-z-]+\.ts$/.test(path ?? ''))).toEqual([]);
	});

	it('samples name their sources', () => {
		expect(refused.filter(({ source }) => source.trim() === '')).toEqual([]);
	});

	it('samples have unique names', () => {
		for (const samples of [accepted, refused]) {
			const names = samples.map(({ name }) => name);
			expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
		}
	});
});
