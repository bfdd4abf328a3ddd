import type { Progress } from './views.ts';

/** Without a terminal a line for so many shapes. */
const LINE_EVERY = 50;
const CLEAR_LINE = '\r\u001b[K';

/** Shows how far a long check is: on a terminal one line that changes, else a line now and then. */
export function createProgress(out: { readonly isTTY?: boolean; write(text: string): unknown }) {
	const isTerminal = out.isTTY === true;
	return {
		show({ asked, total, pausedSec }: Progress): void {
			const pause = pausedSec === null ? '' : ` Slack limits the calls: going on in ${pausedSec} s.`;
			const line = `Asked Slack about ${asked} of ${total} shapes.${pause}`;
			if (isTerminal) out.write(`${CLEAR_LINE}${line}`);
			else if (pause !== '' || (asked > 0 && asked % LINE_EVERY === 0)) out.write(`${line}\n`);
		},
		/** Makes room for the report. */
		end(): void {
			if (isTerminal) out.write(CLEAR_LINE);
		},
	};
}
