import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { isRecord, type Json, list, str } from '../json.ts';
import { useNames } from './names.ts';
import { useSurface } from './surface.ts';
import type { ControlProps } from './text-input.tsx';
import { words } from './text-object.tsx';
import { useChoice } from './use-choice.ts';

function optionsOf(element: Json): Json[] {
	return [...list(element, 'options'), ...list(element, 'option_groups').flatMap((group) => list(group, 'options'))];
}

/** One of the options of the element. */
export function OptionSelect(props: ControlProps) {
	const { blockId, element } = props;
	const [chosen, set] = useChoice(blockId, str(element, 'action_id'), 'selected_option');
	return <Select {...props} options={optionsOf(element)} chosen={isRecord(chosen) ? chosen : null} set={set} />;
}

/** One of the people of the workspace. */
export function PersonSelect(props: ControlProps) {
	const { blockId, element } = props;
	const { people } = useNames();
	const [chosen, set] = useChoice(blockId, str(element, 'action_id'), 'selected_user');
	const options = people.map(({ id, realName }): Json => ({ value: id, text: { type: 'plain_text', text: realName } }));
	const option = options.find((one) => one.value === chosen) ?? null;
	return <Select {...props} options={options} chosen={option} set={(wanted) => set(wanted.value)} />;
}

interface SelectProps extends ControlProps {
	options: readonly Json[];
	chosen: Json | null;
	set: (option: Json) => void;
}

/** A menu with search, as in Slack. */
function Select(props: SelectProps) {
	const { element, labelId, describedBy, isInvalid, isRequired, options, chosen, set } = props;
	const surface = useSurface();
	const chosenWords = words(chosen?.text);
	const [search, setSearch] = useState<string | null>(null);
	const [active, setActive] = useState(0);
	const listId = useId();
	const root = useRef<HTMLFieldSetElement>(null);
	const isOpen = search !== null;
	const found = options.filter((option) =>
		words(option.text)
			.toLowerCase()
			.includes((search ?? '').trim().toLowerCase()),
	);
	const optionId = (index: number) => `${listId}-${index}`;
	useEffect(() => {
		if (isOpen) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: 'nearest' });
	}, [isOpen, active, listId]);

	async function choose(option: Json): Promise<void> {
		setSearch(null);
		if (await surface.confirm(isRecord(element.confirm) ? element.confirm : null)) set(option);
	}
	function onKeyDown(event: KeyboardEvent): void {
		const last = found.length - 1;
		if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
			if (isOpen) setActive(event.key === 'ArrowDown' ? Math.min(active + 1, last) : Math.max(active - 1, 0));
			else {
				setSearch('');
				setActive(
					Math.max(
						0,
						found.findIndex((one) => str(one, 'value') === str(chosen, 'value')),
					),
				);
			}
		} else if (event.key === 'Enter') {
			const option = found[active];
			if (isOpen && option !== undefined) void choose(option);
			else setSearch('');
		} else if (event.key === 'Escape' && isOpen) {
			setSearch(null);
		} else return;
		event.preventDefault();
		event.stopPropagation();
	}
	return (
		<fieldset
			className="select"
			aria-labelledby={labelId}
			ref={root}
			onBlur={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget)) setSearch(null);
			}}
		>
			<input
				id={labelId.replace(/^label/, 'control')}
				className="field select-field"
				role="combobox"
				aria-labelledby={labelId}
				aria-describedby={describedBy}
				aria-invalid={isInvalid || undefined}
				aria-required={isRequired || undefined}
				aria-expanded={isOpen}
				aria-controls={listId}
				aria-activedescendant={isOpen && found.length > 0 ? optionId(active) : undefined}
				aria-autocomplete="list"
				autoComplete="off"
				placeholder={chosenWords || words(element.placeholder) || 'Select an option'}
				value={search ?? chosenWords}
				onMouseDown={() => setSearch(isOpen ? null : '')}
				onChange={(event) => {
					setSearch(event.target.value);
					setActive(0);
				}}
				onKeyDown={onKeyDown}
			/>
			<span className="select-arrow" aria-hidden="true">
				⌄
			</span>
			<div className="menu select-menu" role="listbox" id={listId} aria-labelledby={labelId} hidden={!isOpen}>
				{found.map((option, index) => (
					<div
						key={str(option, 'value')}
						id={optionId(index)}
						role="option"
						tabIndex={-1}
						aria-selected={str(option, 'value') === str(chosen, 'value')}
						className={index === active ? 'menu-item menu-item-active' : 'menu-item'}
						onMouseDown={(event) => {
							event.preventDefault();
							void choose(option);
						}}
						onMouseEnter={() => setActive(index)}
					>
						{words(option.text)}
						{str(option.description, 'text') === '' ? null : (
							<span className="option-about">{words(option.description)}</span>
						)}
					</div>
				))}
				{found.length === 0 ? <div className="menu-empty">No matches</div> : null}
			</div>
		</fieldset>
	);
}
