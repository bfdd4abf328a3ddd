import { answerItem as item, NOW as now, answerOf as sampleOf } from '../../../sandbox/gallery/shapes/samples.ts';
import type { Answer } from '../../../src/domain/answer.ts';

export { item, now };

/** An answer to session 3f9a2c1d, saved a minute ago in a thread, not sent yet. */
export function answerOf(overrides: Partial<Answer> = {}): Answer {
	return sampleOf({
		id: 'answer-1',
		person: { teamId: 'T1', userId: 'U0OURS1' },
		content: { kind: 'readable', items: [item('Hall', 'The <garden>\nplease')], other: null },
		origin: { channelId: 'C1', threadTs: '1.2' },
		attempts: 0,
		timeline: [{ state: 'accepted', at: now - 60_000 }],
		...overrides,
	});
}
