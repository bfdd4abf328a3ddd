import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const FILE = new URL('../../ops/alerts.yml', import.meta.url);

export interface Rule {
	readonly alert: string;
	readonly expr: string;
	readonly labels: { readonly severity: string };
}

export function readRules(): readonly Rule[] {
	const { groups } = parse(readFileSync(FILE, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
	return groups.flatMap(({ rules }) => rules);
}

/** One line of `/metrics`. */
export interface Sample {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

export function samplesOf(exposition: string): readonly Sample[] {
	return Array.from(exposition.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm), ([, name = '', labels = '', value]) => {
		const pairs = Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, label = '', text = '']) => [label, text]);
		return { name, labels: Object.fromEntries(pairs), value: Number(value) };
	});
}

interface Selector {
	readonly name: string;
	readonly labels: readonly string[];
	selects(sample: Sample): boolean;
}

const MATCHERS: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
	'=': (value, wanted) => value === wanted,
	'!=': (value, wanted) => value !== wanted,
	'=~': (value, wanted) => new RegExp(`^(?:${wanted})$`).test(value),
};

function selectorOf(name: string, text: string): Selector {
	const matchers = Array.from(text.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g), ([, label = '', kind = '', wanted = '']) => ({
		label,
		matches: (value: string) => MATCHERS[kind]?.(value, wanted) ?? false,
	}));
	return {
		name,
		labels: matchers.map(({ label }) => label),
		selects: (sample) =>
			sample.name === name && matchers.every(({ label, matches }) => matches(sample.labels[label] ?? '')),
	};
}

type Values = readonly number[];
/** Scrapes of one process, the newest last. */
export type Scrapes = readonly (readonly Sample[])[];
type Query = (scrapes: Scrapes) => Values;

/** Of the values of one series within a range. Prometheus sees no rise in the first value either. */
const OVER_TIME: Readonly<Record<string, (values: Values) => number>> = {
	increase: (values) => (values.at(-1) ?? 0) - (values[0] ?? 0),
	delta: (values) => (values.at(-1) ?? 0) - (values[0] ?? 0),
	changes: (values) => values.filter((value, index) => index > 0 && value !== values[index - 1]).length,
	max_over_time: (values) => Math.max(...values),
};
const OVER_SERIES: Readonly<Record<string, (values: Values) => number>> = {
	sum: (values) => values.reduce((sum, value) => sum + value, 0),
	max: (values) => Math.max(...values),
};
const COMPARISONS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
	'>': (value, limit) => value > limit,
	'==': (value, limit) => value === limit,
};

const TOKEN = /[a-z_]\w*|\{[^}]*\}|\[\w+\]|[(),]|>|==|[\d.]+/g;

/**
 * The part of PromQL that `ops/alerts.yml` uses, for one process whose scrapes all lie within the ranges of the rule, so
 * that `by` and `on` change nothing. `isTrue`: whether the rule is active after them. @throws at anything else
 */
export function readExpression(expr: string) {
	const tokens: readonly string[] = expr.match(TOKEN) ?? [];
	const selectors: Selector[] = [];
	let at = 0;

	function next(expected?: string): string {
		const token = tokens[at++] ?? 'its end';
		if (expected !== undefined && token !== expected)
			throw new Error(`${token} stands where ${expected} should: ${expr}`);
		return token;
	}
	function skipLabels(keyword: string): void {
		if (tokens[at] === keyword) at = tokens.indexOf(')', at) + 1;
	}
	function inParentheses<T>(read: () => T): T {
		next('(');
		const inner = read();
		next(')');
		return inner;
	}

	function readSelector(): Selector {
		const name = next();
		const selector = selectorOf(name, tokens[at]?.startsWith('{') === true ? next() : '');
		selectors.push(selector);
		return selector;
	}
	function readRange(over: (values: Values) => number): Query {
		const selector = readSelector();
		next();
		return (scrapes) => {
			const samples = scrapes.flat().filter(selector.selects);
			return [...Map.groupBy(samples, ({ labels }) => JSON.stringify(labels)).values()].map((series) =>
				over(series.map(({ value }) => value)),
			);
		};
	}
	function readInstant(): Query {
		const selector = readSelector();
		return (scrapes) => (scrapes.at(-1) ?? []).filter(selector.selects).map(({ value }) => value);
	}
	function readValue(): Query {
		const [overSeries, overTime] = [OVER_SERIES[tokens[at] ?? ''], OVER_TIME[tokens[at] ?? '']];
		if (overSeries !== undefined) {
			next();
			skipLabels('by');
			const inner = inParentheses(readAll);
			return (scrapes) => (inner(scrapes).length === 0 ? [] : [overSeries(inner(scrapes))]);
		}
		if (overTime !== undefined) {
			next();
			return inParentheses(() => readRange(overTime));
		}
		if (tokens[at] === '(') return inParentheses(readAll);
		if (tokens[at] !== 'absent_over_time') return readInstant();
		next();
		const inner = inParentheses(() => readRange(() => 1));
		return (scrapes) => (inner(scrapes).length === 0 ? [1] : []);
	}
	function readComparison(): Query {
		const value = readValue();
		const compare = COMPARISONS[tokens[at] ?? ''];
		if (compare === undefined) return value;
		next();
		const limit = Number(next());
		return (scrapes) => value(scrapes).filter((one) => compare(one, limit));
	}
	function readTerm(): Query {
		let query = readComparison();
		for (let word = tokens[at]; word === 'and' || word === 'unless'; word = tokens[at]) {
			next();
			skipLabels('on');
			const [left, right, wants] = [query, readComparison(), word === 'and'];
			query = (scrapes) => (right(scrapes).length > 0 === wants ? left(scrapes) : []);
		}
		return query;
	}
	function readAll(): Query {
		const left = readTerm();
		if (tokens[at] !== 'or') return left;
		next();
		const right = readAll();
		return (scrapes) => [...left(scrapes), ...right(scrapes)];
	}

	if (tokens.join('') !== expr.replaceAll(/\s/g, '')) throw new Error(`Not all of it can be read: ${expr}`);
	const query = readAll();
	if (at < tokens.length) throw new Error(`${tokens[at]} cannot be read in ${expr}`);
	return { selectors, isTrue: (scrapes: Scrapes) => query(scrapes).length > 0 };
}
