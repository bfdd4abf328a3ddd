import { str } from '../json.ts';
import { Choices, DateInput } from './choices.tsx';
import { MultiSelect, Select } from './select.tsx';
import { type ControlProps, TextInput } from './text-input.tsx';

/** The control of an element that holds a value. Says so when the sandbox has none for it. */
export function Control(props: ControlProps) {
	switch (str(props.element, 'type')) {
		case 'plain_text_input':
		case 'number_input':
		case 'email_text_input':
		case 'url_text_input':
			return <TextInput {...props} />;
		case 'static_select':
		case 'users_select':
			return <Select {...props} />;
		case 'multi_static_select':
		case 'multi_users_select':
			return <MultiSelect {...props} />;
		case 'radio_buttons':
		case 'checkboxes':
			return <Choices {...props} />;
		case 'datepicker':
		case 'timepicker':
			return <DateInput {...props} />;
		default:
			return <p className="unsupported">The sandbox has no control for “{str(props.element, 'type')}”.</p>;
	}
}
