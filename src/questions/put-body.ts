import type { AnsweredItem } from './session.ts';

/** The JSON of the PUT that replaces a message's answers: all items, in order, with what is no string as it was. */
export function putBodyOf(sessionId: string, messageIndex: number, items: readonly AnsweredItem[]): string {
	const id = JSON.stringify(sessionId);
	return `{"sessionId":${id},"humanInputResponse":[${items.map(itemJson).join(',')}],"messageIndex":${messageIndex}}`;
}

function itemJson({ title, description, value, raw = {} }: AnsweredItem): string {
	const json = (text: string, whole: string | undefined) => whole ?? JSON.stringify(text);
	return `{"title":${json(title, raw.title)},"description":${json(description, raw.description)},"value":${json(value, raw.value)}}`;
}
