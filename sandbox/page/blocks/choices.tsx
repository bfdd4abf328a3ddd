import { Icon } from '../icons.tsx';
import { isRecord, list, str } from '../json.ts';
import { useSurface } from './surface.ts';
import { type ControlProps, fieldProps } from './text-input.tsx';
import { TextObject, words } from './text-object.tsx';
import { useChoice } from './use-choice.ts';

export function Choices({ blockId, element, labelId, describedBy, isInvalid, isRequired }: ControlProps) {
	const surface = useSurface();
	const actionId = str(element, 'action_id');
	const isRadio = str(element, 'type') === 'radio_buttons';
	const [held, choose] = useChoice(blockId, actionId, isRadio ? 'selected_option' : 'selected_options');
	const chosen = (Array.isArray(held) ? held : [held]).filter(isRecord);
	const isChosen = (value: string) => chosen.some((one) => str(one, 'value') === value);
	const name = `${surface.id}-${blockId}-${actionId}`;
	return (
		<div
			className="choices"
			{...(isRadio
				? { role: 'radiogroup', 'aria-invalid': isInvalid || undefined, 'aria-required': isRequired || undefined }
				: labelId === ''
					? {}
					: { role: 'group' })}
			{...{ 'aria-labelledby': labelId || undefined, 'aria-describedby': describedBy }}
		>
			{list(element, 'options').map((option) => {
				const value = str(option, 'value');
				const description = option.description;
				return (
					<label className="choice" key={value}>
						<input
							type={isRadio ? 'radio' : 'checkbox'}
							name={name}
							checked={isChosen(value)}
							onChange={() => {
								const others = chosen.filter((one) => str(one, 'value') !== value);
								choose(isRadio ? option : isChosen(value) ? others : [...others, option]);
							}}
						/>
						<span className="choice-words">
							<TextObject of={option.text} />
							{description === undefined ? null : (
								<span className="option-about">
									<TextObject of={description} />
								</span>
							)}
						</span>
					</label>
				);
			})}
		</div>
	);
}

const DATE = { type: 'date', key: 'selected_date', empty: 'Select a date', icon: 'calendar' } as const;
const TIME = { type: 'time', key: 'selected_time', empty: 'Select a time', icon: 'clock' } as const;

/** Date or time: a field as Slack's, with the browser's own picker behind it. */
export function DateInput(props: ControlProps) {
	const { blockId, element } = props;
	const actionId = str(element, 'action_id');
	const { type, key, empty, icon } = str(element, 'type') === 'timepicker' ? TIME : DATE;
	const [held, choose] = useChoice(blockId, actionId, key);
	const value = typeof held === 'string' ? held : '';
	return (
		<span className="picker">
			<input
				{...fieldProps(props)}
				className={value === '' ? 'field field-date field-date-empty' : 'field field-date'}
				type={type}
				value={value}
				onChange={(event) => choose(event.target.value === '' ? null : event.target.value)}
			/>
			<Icon name={icon} />
			{value === '' ? (
				<span className="picker-words" aria-hidden="true">
					{words(element.placeholder) || empty}
				</span>
			) : null}
		</span>
	);
}
