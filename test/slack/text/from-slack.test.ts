import { describe, expect, it } from 'vitest';
import { typedText } from '../../../src/slack/text/from-slack.ts';

describe('the text of a message', () => {
	it.each([
		['mentions of us', '<@U1BOT> yes, please', 'yes, please'],
		['named mentions of us', '<@U1BOT|handraise> yes', 'yes'],
		['named mentions', 'ask <@U2ANN|ann>', 'ask @ann'],
		['mentions without a name', 'ask <@W2ANN>', 'ask <@W2ANN>'],
		['channels', 'see <#C1AGENTS|agents>', 'see #agents'],
		['channels without a name', 'see <#C1AGENTS> and <#C1AGENTS|>', 'see <#C1AGENTS> and <#C1AGENTS|>'],
		['addresses', '<https://a.example/b?c=1&amp;d|a.example/b>', 'https://a.example/b?c=1&d'],
		['addresses without a label', '<http://a.example>', 'http://a.example'],
		['mail addresses', '<mailto:ann@example.org|ann@example.org>', 'ann@example.org'],
		['numbers of phones', '<tel:+4930123|030 123>', 'tel:+4930123'],
		['entities', '1 &lt; 2 &amp;amp; 3 &gt; 2', '1 < 2 &amp; 3 > 2'],
		['what it does not know', '<!here> <x> <>', '<!here> <x> <>'],
		['brackets that nobody closes', '<@U1BOT <https://a.example> <', '<@U1BOT https://a.example <'],
		['labels over several lines', '<https://a.example|a\nb> c', 'https://a.example c'],
	])('is what was typed: %s', (_what, text, typed) => {
		expect(typedText(text, 'U1BOT')).toBe(typed);
	});
});
