import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Less than serious for axe, and yet a control that a screen reader may call something else. */
const ALSO = ['aria-allowed-role'];

/** The serious and critical findings of axe in a part of the page, each with its elements. */
export async function seriousFindings(page: Page, part = 'html'): Promise<string[]> {
	// As a browser extension does, because the page's own policy forbids it to load a script.
	if (await page.evaluate(`!('axe' in globalThis)`)) await page.evaluate(axe.source);
	return page.evaluate(
		async ([within, also]) => {
			const { axe: scanner } = globalThis as unknown as {
				axe: {
					run(
						part: string,
						options: object,
					): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
				};
			};
			const { violations } = await scanner.run(within, { resultTypes: ['violations'], selectors: false });
			return violations
				.filter((one) => one.impact === 'serious' || one.impact === 'critical' || also.includes(one.id))
				.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
		},
		[part, ALSO] as const,
	);
}
