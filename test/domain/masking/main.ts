import { LISTS, scoreOf } from './score.ts';

/* `npm exec -- node test/domain/masking/main.ts`: the figures of RESULTS.md, and each text behind them. */

for (const name of LISTS) {
	const { misses, falseMasks, credentials, ordinary, texts } = scoreOf(name);
	for (const { text, secret } of misses) console.log('missed', JSON.stringify({ secret, text }));
	for (const { text, masked } of falseMasks) console.log('false mask', JSON.stringify({ text, masked: masked.text }));
	console.log(`${name}: ${texts} texts`);
	console.log(`  ${misses.length} of ${credentials} credentials missed`);
	console.log(`  ${falseMasks.length} of ${ordinary} texts without a credential masked`);
}
