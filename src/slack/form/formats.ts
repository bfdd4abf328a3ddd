/** As `number_input` takes it for an initial value. */
export function isPlainNumber(text: string): boolean {
	return /^-?\d{1,100}(?:\.\d{1,100})?$/.test(text);
}

/** Anything that people write for a number. */
export function isNumber(text: string): boolean {
	return /^[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?$/i.test(text.trim());
}

/** Good enough to notice a slip; whether an address exists only its owner knows. */
export function isEmail(text: string): boolean {
	return text.length <= 320 && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]{2,}$/.test(text);
}

export function isUrl(text: string): boolean {
	return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** `YYYY-MM-DD`, and a day that exists. */
export function isDate(text: string): boolean {
	if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
	const time = Date.parse(`${text}T00:00:00Z`);
	return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** `HH:mm`. */
export function isTime(text: string): boolean {
	return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}
