/** What the guide types: into the message box that is open, or into the next one that opens. */
let waiting: string | null = null;
let box: ((text: string) => void) | null = null;

/** `opens`: another channel opens first, and its box gets the text. */
export function typeIn(text: string, opens: boolean): void {
	if (box === null || opens) waiting = text;
	else box(text);
}

/** The box of a channel: it takes what is typed from now on, until what is returned is called. */
export function takesTyped(take: (text: string) => void): () => void {
	box = take;
	if (waiting !== null) take(waiting);
	waiting = null;
	return () => {
		if (box === take) box = null;
	};
}
