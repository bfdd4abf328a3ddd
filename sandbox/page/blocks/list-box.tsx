import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { WirePerson } from '../../wire.ts';
import { Avatar } from '../avatar.tsx';
import { isRecord, type Json, list, str } from '../json.ts';
import { followPlace } from '../menu-place.ts';
import { useNames } from './names.ts';
import { words } from './text-object.tsx';

/** What a menu offers: an option of the app, or a person. */
export interface Choice {
	/** The option's value, or the person's id. */
	key: string;
	words: string;
	about: string;
	person?: WirePerson;
	/** In the form of `state.values`. */
	held: unknown;
}

export const keyOf = (held: unknown) => (typeof held === 'string' ? held : str(held, 'value'));

/** The choices of a select. Slack fills those of people itself. */
export function useChoices(element: Json): Choice[] {
	const { people } = useNames();
	if (str(element, 'type').endsWith('users_select')) {
		const listed = people.filter(({ isListed }) => isListed);
		return listed.map((person) => {
			const { id, name, realName } = person;
			return { key: id, words: realName, about: `@${name}`, person, held: id };
		});
	}
	return list(element, 'options').map((option) => ({
		key: str(option, 'value'),
		words: words(option.text),
		about: isRecord(option.description) ? words(option.description) : '',
		held: option,
	}));
}

interface ListBoxOptions {
	choices: readonly Choice[];
	isChosen: (choice: Choice) => boolean;
	/** Somebody took a choice with the mouse or Enter. */
	take: (choice: Choice) => void;
}

/** A menu with search below a combobox: what is typed, which entry is active, and the keys. */
export function useListBox({ choices, isChosen, take }: ListBoxOptions) {
	/** Null while the menu is closed. */
	const [search, setSearch] = useState<string | null>(null);
	const [active, setActive] = useState(0);
	const listId = useId();
	const isOpen = search !== null;
	const wanted = (search ?? '').trim().toLowerCase();
	const found = choices.filter(({ words, about }) => `${words} ${about}`.toLowerCase().includes(wanted));
	const optionId = (index: number) => `${listId}-${index}`;
	useEffect(() => {
		if (isOpen) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: 'nearest' });
	}, [isOpen, active, listId]);

	function open(): void {
		setSearch('');
		setActive(Math.max(0, choices.findIndex(isChosen)));
	}
	function close(): void {
		setSearch(null);
	}
	/** Handles the keys of the menu. False for others. */
	function handlesKey(event: KeyboardEvent): boolean {
		const last = found.length - 1;
		if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
			if (isOpen) setActive(event.key === 'ArrowDown' ? Math.min(active + 1, last) : Math.max(active - 1, 0));
			else open();
		} else if (event.key === 'Enter') {
			const choice = found[active];
			if (isOpen && choice !== undefined) take(choice);
			else open();
		} else if (event.key === 'Escape' && isOpen) {
			close();
		} else return false;
		event.preventDefault();
		event.stopPropagation();
		return true;
	}
	return {
		search,
		isOpen,
		close,
		handlesKey,
		combobox: {
			role: 'combobox',
			'aria-expanded': isOpen,
			'aria-controls': listId,
			'aria-activedescendant': isOpen && found.length > 0 ? optionId(active) : undefined,
			'aria-autocomplete': 'list',
			autoComplete: 'off',
			onMouseDown: () => (isOpen ? close() : open()),
			onChange: (event: { target: { value: string } }) => {
				setSearch(event.target.value);
				setActive(0);
			},
		} as const,
		menu: { listId, isOpen, found, active, setActive, optionId, isChosen, take },
	};
}

interface ListBoxProps {
	menu: ReturnType<typeof useListBox>['menu'];
	labelId: string;
	isMultiple?: boolean;
}

export function ListBox({ menu, labelId, isMultiple = false }: ListBoxProps) {
	const { listId, isOpen, found, active, setActive, optionId, isChosen, take } = menu;
	const root = useRef<HTMLDivElement>(null);
	// After each render: a choice may make the field higher.
	useLayoutEffect(() => {
		const element = root.current;
		if (!isOpen || element === null) return undefined;
		const field = element.parentElement?.querySelector('.field');
		return field == null ? undefined : followPlace(element, field, true);
	});
	return (
		<div
			ref={root}
			className="menu select-menu"
			role="listbox"
			id={listId}
			aria-labelledby={labelId}
			aria-multiselectable={isMultiple || undefined}
			hidden={!isOpen}
		>
			{found.map((choice, index) => (
				<div
					key={choice.key}
					id={optionId(index)}
					role="option"
					tabIndex={-1}
					aria-selected={isChosen(choice)}
					className={`menu-item${index === active ? ' menu-item-active' : ''}${choice.person === undefined ? '' : ' select-person'}`}
					onMouseDown={(event) => {
						event.preventDefault();
						take(choice);
					}}
					// Not when it enters: a menu that opens under a mouse at rest leaves the choice to the keys.
					onMouseMove={() => setActive(index)}
				>
					{choice.person === undefined ? null : <Avatar person={choice.person} size="small" />}
					{choice.words}
					{choice.about === '' ? null : <span className="option-about">{choice.about}</span>}
				</div>
			))}
			{found.length === 0 ? <div className="menu-empty">No matches</div> : null}
		</div>
	);
}
