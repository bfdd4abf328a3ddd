import { describe, expect, it } from 'vitest';
import { readExpression, samplesOf } from './rules.ts';

const scrapes = (...texts: readonly string[]) => texts.map(samplesOf);

describe('an expression of the rules', () => {
	it.each([
		['increase(a[5m]) > 2', ['a 1', 'a 3'], false],
		['increase(a[5m]) > 2', ['a 1', 'a 4'], true],
		['sum by (job) (increase(a{x="1"}[5m])) > 2', ['a{x="1"} 0', 'a{x="1"} 2\na{x="2"} 9'], false],
		['sum by (job) (a{x=~"1|2"}) > 2', ['a{x="1"} 1\na{x="2"} 2\na{x="12"} 9'], true],
		['max by (job) (a{x!="1"}) > 2', ['a{x="1"} 9\na{x="2"} 2'], false],
		['absent_over_time(a[1d])', ['a 0', ''], false],
		['absent_over_time(a[1d])', ['b 0'], true],
		['a == 0 or b == 1', ['a 1\nb 1'], true],
		['a == 0 or b == 1', ['a 1\nb 0'], false],
		['a == 0 or b == 1 unless c', ['a 0\nb 1\nc 1'], true],
		['(a == 0 or b == 1) unless c', ['a 0\nb 1\nc 1'], false],
		['a == 0 and b == 1', ['a 0\nb 1'], true],
		['a == 0 and on (job) b == 1', ['a 0\nb 0'], false],
		['a == 0 unless b == 1', ['a 0\nb 1'], false],
		['a == 0 unless b == 1', ['a 0\nb 0'], true],
		['changes(a[5m]) > 1', ['a 1', 'a 2', 'a 2'], false],
	])('%s after %j: %s', (expr, texts, isTrue) => {
		expect(readExpression(expr).isTrue(scrapes(...texts))).toBe(isTrue);
	});

	it('sees no rise in the first value of a series, as Prometheus', () => {
		expect(readExpression('increase(a[5m]) > 2').isTrue(scrapes('', 'a 9'))).toBe(false);
	});

	it.each(['rate(a[5m])', 'a > b + 1', 'absent(a)', 'increase(a)'])('refuses %s', (expr) => {
		expect(() => readExpression(expr)).toThrow(expr);
	});
});
