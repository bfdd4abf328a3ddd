import type { ReactNode } from 'react';
import { str } from '../json.ts';
import { Choices, DateInput } from './choices.tsx';
import { MultiSelect, Select } from './select.tsx';
import { type ControlProps, TextInput } from './text-input.tsx';

const CONTROLS: Readonly<Record<string, (props: ControlProps) => ReactNode>> = {
	plain_text_input: TextInput,
	number_input: TextInput,
	email_text_input: TextInput,
	url_text_input: TextInput,
	static_select: Select,
	users_select: Select,
	multi_static_select: MultiSelect,
	multi_users_select: MultiSelect,
	radio_buttons: Choices,
	checkboxes: Choices,
	datepicker: DateInput,
	timepicker: DateInput,
};

/** The control of an element that holds a value. Says so when the sandbox has none for it. */
export function Control(props: ControlProps) {
	const type = str(props.element, 'type');
	const Known = CONTROLS[type];
	return Known ? <Known {...props} /> : <p className="unsupported">The sandbox has no control for “{type}”.</p>;
}
