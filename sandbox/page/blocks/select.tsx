import { useRef } from 'react';
import { Icon } from '../icons.tsx';
import { str } from '../json.ts';
import { keyOf, ListBox, useChoices, useListBox } from './list-box.tsx';
import { type ControlProps, fieldProps } from './text-input.tsx';
import { words } from './text-object.tsx';
import { useChoice } from './use-choice.ts';

/** A menu of options or people with search, as in Slack. */
export function Select(props: ControlProps) {
	const { blockId, element, labelId } = props;
	const choices = useChoices(element);
	const isOfPeople = str(element, 'type') === 'users_select';
	const [held, set] = useChoice(blockId, str(element, 'action_id'), isOfPeople ? 'selected_user' : 'selected_option');
	const chosen = choices.find(({ key }) => key === keyOf(held));
	const box = useListBox({
		choices,
		isChosen: (choice) => choice === chosen,
		take(choice) {
			box.close();
			set(choice.held);
		},
	});
	const chosenWords = chosen?.words ?? '';
	return (
		<fieldset
			className="select"
			aria-labelledby={labelId}
			onBlur={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget)) box.close();
			}}
		>
			<input
				{...fieldProps(props)}
				{...box.combobox}
				className="field select-field"
				placeholder={chosenWords || words(element.placeholder) || 'Select an option'}
				value={box.search ?? chosenWords}
				onKeyDown={box.handlesKey}
			/>
			<span className="select-arrow" aria-hidden="true">
				<Icon name="down" />
			</span>
			<ListBox menu={box.menu} labelId={labelId} />
		</fieldset>
	);
}

/** A menu of which several can be chosen. Slack shows those in the field; Backspace removes the last. */
export function MultiSelect(props: ControlProps) {
	const { blockId, element, labelId } = props;
	const choices = useChoices(element);
	const isOfPeople = str(element, 'type') === 'multi_users_select';
	const [held, set] = useChoice(blockId, str(element, 'action_id'), isOfPeople ? 'selected_users' : 'selected_options');
	const field = useRef<HTMLInputElement>(null);
	const all: unknown[] = Array.isArray(held) ? held : [];
	const keys = all.map(keyOf);
	const most = typeof element.max_selected_items === 'number' ? element.max_selected_items : Number.POSITIVE_INFINITY;
	const isFull = all.length >= most;
	const wordsOf = (key: string) => choices.find((one) => one.key === key)?.words ?? key;
	const remove = (key: string) => set(all.filter((one) => keyOf(one) !== key));
	const box = useListBox({
		choices,
		isChosen: ({ key }) => keys.includes(key),
		take(choice) {
			if (keys.includes(choice.key)) remove(choice.key);
			else if (!isFull) set([...all, choice.held]);
			box.combobox.onChange({ target: { value: '' } });
		},
	});
	const last = keys.at(-1);
	return (
		<fieldset
			className="select"
			aria-labelledby={labelId}
			onBlur={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget)) box.close();
			}}
		>
			<div className="field tokens">
				{keys.map((key) => (
					<span className="token" key={key}>
						{wordsOf(key)}
						<button
							type="button"
							aria-label={`Remove ${wordsOf(key)}`}
							onClick={() => {
								remove(key);
								field.current?.focus();
							}}
						>
							<span aria-hidden="true">×</span>
						</button>
					</span>
				))}
				<input
					{...fieldProps(props)}
					{...box.combobox}
					ref={field}
					className="tokens-input"
					placeholder={all.length === 0 ? words(element.placeholder) || 'Select options' : ''}
					value={box.search ?? ''}
					onKeyDown={(event) => {
						if (box.handlesKey(event)) return;
						if (event.key === 'Backspace' && (box.search ?? '') === '' && last !== undefined) remove(last);
					}}
				/>
			</div>
			{isFull && box.isOpen ? (
				<p className="hint" role="status">
					{most} at most. Take one out to choose another.
				</p>
			) : null}
			<ListBox menu={box.menu} labelId={labelId} isMultiple />
		</fieldset>
	);
}
