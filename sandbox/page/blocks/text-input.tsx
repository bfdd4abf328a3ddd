import { type ChangeEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { type Json, str } from '../json.ts';
import { heldValue, useSurface } from './surface.ts';
import { words } from './text-object.tsx';

/**
 * How long after the last key the value goes to the sandbox. Leaving the field or pressing anything sends it at once.
 */
const REST_MS = 120;

export interface ControlProps {
	blockId: string;
	element: Json;
	/** The ids of its label, hint and error. Without a label (''), its only choice names itself. */
	labelId: string;
	describedBy: string | undefined;
	isInvalid: boolean;
	isRequired: boolean;
}

/** What names a field and says what is wrong with it. */
export function fieldProps({ labelId, describedBy, isInvalid, isRequired }: ControlProps) {
	return {
		id: labelId.replace(/^label/, 'control'),
		'aria-labelledby': labelId,
		'aria-describedby': describedBy,
		'aria-invalid': isInvalid || undefined,
		'aria-required': isRequired || undefined,
	};
}

const MODES: Readonly<Record<string, 'decimal' | 'email' | 'url'>> = {
	number_input: 'decimal',
	email_text_input: 'email',
	url_text_input: 'url',
};

/**
 * A text field. The fake Slack holds the value. The field shows what was typed until the sandbox has taken it, so that
 * a slow response loses no letter.
 */
export function TextInput(props: ControlProps) {
	const { blockId, element } = props;
	const surface = useSurface();
	const actionId = str(element, 'action_id');
	const held = heldValue(surface, blockId, actionId, 'value');
	const there = typeof held === 'string' ? held : '';
	const [typed, setTyped] = useState<string | null>(null);
	const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
	const waiting = useRef<string | null>(null);
	useEffect(() => {
		if (typed !== null && typed === there) setTyped(null);
	}, [typed, there]);
	const send = useRef(surface.fill);
	send.current = surface.fill;

	function flush(enter = false): void {
		if (timer.current !== null) clearTimeout(timer.current);
		timer.current = null;
		if (waiting.current === null && !enter) return;
		const value = waiting.current ?? typed ?? there;
		waiting.current = null;
		void send.current(blockId, actionId, value, enter);
	}
	const flushNow = useRef(flush);
	flushNow.current = flush;
	useEffect(() => {
		const now = () => flushNow.current();
		document.addEventListener('sandbox:flush', now);
		return () => {
			document.removeEventListener('sandbox:flush', now);
			now();
		};
	}, []);

	const common = {
		...fieldProps(props),
		placeholder: words(element.placeholder) || undefined,
		value: typed ?? there,
		onChange(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) {
			setTyped(event.target.value);
			waiting.current = event.target.value;
			if (timer.current !== null) clearTimeout(timer.current);
			timer.current = setTimeout(() => flushNow.current(), REST_MS);
		},
		onBlur: () => flush(),
	};
	if (element.multiline === true) return <textarea {...common} className="field field-multiline" rows={4} />;
	return (
		<input
			{...common}
			className="field"
			type="text"
			inputMode={MODES[str(element, 'type')] ?? 'text'}
			autoComplete="off"
			onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
				if (event.key === 'Enter' && !event.nativeEvent.isComposing) flush(true);
			}}
		/>
	);
}

/** Sends typed text that is not yet sent: before a button press or a submission. */
export function flushTyping(): void {
	document.dispatchEvent(new Event('sandbox:flush'));
}
