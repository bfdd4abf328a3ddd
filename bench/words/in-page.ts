import type { Browser, Page } from 'playwright-core';

/** A message as the page shows it. */
export interface Shown {
	readonly ts: string;
	/** Its words, those on buttons included. */
	readonly text: string;
	/** Of its buttons, menus and fields. */
	readonly labels: readonly string[];
	readonly height: number;
	/** Lines of its text; a row of buttons is no line. */
	readonly lines: number;
}

/** Functions in the page. Its words are those that people see: none for screen readers that only the page has. */
const FUNCTIONS = `
	const wordsIn = (root) => {
		const found = [];
		const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
		while (walker.nextNode()) {
			const node = walker.currentNode;
			if (node.placeholder) found.push(node.placeholder);
			if (node.nodeType !== Node.TEXT_NODE || node.parentElement.closest('.visually-hidden') !== null) continue;
			if (node.parentElement.checkVisibility()) found.push(node.data);
		}
		return found.join(' ');
	};
	const linesIn = (roots) => {
		const bottoms = new Set();
		for (const root of roots) {
			const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
			while (walker.nextNode()) {
				const node = walker.currentNode;
				if (node.data.trim() === '' || node.parentElement.closest('.visually-hidden, button') !== null) continue;
				const range = document.createRange();
				range.selectNodeContents(node);
				for (const { bottom } of range.getClientRects()) bottoms.add(Math.round(bottom / 6));
			}
		}
		return bottoms.size;
	};`;

/** The messages of this author in a part of the page. */
export function shownIn(page: Page, part: string, author: string): Promise<Shown[]> {
	return page.evaluate(`(() => {${FUNCTIONS}
		const ofAuthor = (one) => one.getAttribute('aria-label').startsWith(${JSON.stringify(`${author},`)});
		return [...document.querySelectorAll(${JSON.stringify(`${part} article.message`)})].filter(ofAuthor).map((one) => {
			const parts = [...one.querySelectorAll('.blocks, .message-text')];
			return {
				ts: one.dataset.surface,
				text: parts.map(wordsIn).join(' '),
				labels: [...one.querySelectorAll('.blocks .pressable, .blocks .loose-control')].map(wordsIn),
				height: one.getBoundingClientRect().height,
				lines: linesIn(parts),
			};
		});
	})()`);
}

/** The words of the window on top, above its submit button. */
export function wordsOfWindow(page: Page): Promise<string> {
	return page.evaluate(`(() => {${FUNCTIONS}
		const title = wordsIn(document.querySelector('.dialog-head h2'));
		const body = document.querySelector('.dialog-body');
		return [title, wordsIn(body)].join(' ');
	})()`);
}

/** The height of a line of text. */
export function lineHeightOf(page: Page): Promise<number> {
	return page.evaluate(`parseFloat(getComputedStyle(document.querySelector('.messages')).lineHeight)`);
}

/** A new window of this person, 1280 pixels wide, without the sandbox's own panel. */
export async function openWindow(browser: Browser, url: string, person: string, channel: string): Promise<Page> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
	await context.addInitScript('sessionStorage.setItem("sandbox-panel", "")');
	const page = await context.newPage();
	await page.goto(`${url}/?as=${person}&window=${person}&in=${channel}`);
	await page.locator('.messages').waitFor();
	return page;
}
