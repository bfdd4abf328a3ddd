import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { createDrafting } from '../../src/people/session/drafts.ts';
import { newMetadata } from '../../src/slack/ids.ts';
import { readView } from '../../src/slack/request.ts';
import { createHarness } from '../delivery/delivering.ts';
import { fieldsOf, formOf } from '../slack/support/questions.ts';
import { ANN, SERVICE, T0 } from '../store/support.ts';
import { coreOf } from '../support/core.ts';

it('saves what was typed last although the save before it failed', async () => {
	await using harness = await createHarness();
	const { store, log } = harness;
	const typedLater = Promise.withResolvers<void>();
	let failures = 1;
	const drafts: typeof store.drafts = {
		...store.drafts,
		async save(...given) {
			await typedLater.promise;
			if (failures-- > 0) throw new StoreUnavailableError('as if the database did not respond');
			return store.drafts.save(...given);
		},
	};
	const clock = createManualClock(T0);
	const core = coreOf({ store: { ...store, drafts }, serviceUrl: SERVICE, clock, log });
	const drafting = createDrafting(core);
	const asked = newMetadata({ sessionId: 's1', formId: 'form-1', messageIndex: 1, fingerprint: 'f' });
	const form = formOf([{ title: 'Which colour?' }], asked);
	const [field] = fieldsOf(form.blocks);
	const typing = (value: string) => {
		const values = { [field?.block_id ?? '']: { 'form.field': { type: 'plain_text_input', value } } };
		return { ...readView({ id: 'V1', blocks: form.blocks, state: { values } }), metadata: form.metadata };
	};
	const first = drafting.save(ANN, typing('re'));
	await drafting.save(ANN, typing('red'));
	typedLater.resolve();
	await first.catch(() => {});
	expect((await store.drafts.get('form-1'))?.values).toEqual({ 0: 'red' });

	failures = 1;
	await expect(drafting.save(ANN, typing('redder'))).rejects.toMatchObject({ code: 'store_unavailable' });
});
