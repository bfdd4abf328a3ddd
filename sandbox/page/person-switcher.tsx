import { useEffect, useRef, useState } from 'react';
import type { WirePerson, WireWorkspace } from '../wire.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import { addressAs } from './place.ts';

const KINDS: Record<WirePerson['kind'], string> = {
	member: 'Full member',
	guest: 'Guest',
	external: 'Of another organisation',
	bot: 'App',
};

/** The current person, and links to act as another: a second window can be a second person. */
export function PersonSwitcher({ workspace }: { workspace: WireWorkspace }) {
	const [isOpen, setOpen] = useState(false);
	const root = useRef<HTMLFieldSetElement>(null);
	const opener = useRef<HTMLButtonElement>(null);
	useEffect(() => {
		if (!isOpen) return;
		const away = (event: MouseEvent) => {
			if (!root.current?.contains(event.target as Node)) setOpen(false);
		};
		document.addEventListener('mousedown', away);
		return () => document.removeEventListener('mousedown', away);
	}, [isOpen]);
	const { me } = workspace;
	return (
		<fieldset
			className="switcher"
			aria-label="You"
			ref={root}
			onKeyDown={(event) => {
				if (event.key !== 'Escape' || !isOpen) return;
				event.stopPropagation();
				setOpen(false);
				opener.current?.focus();
			}}
		>
			{isOpen ? (
				<div className="switcher-list">
					<p className="switcher-title">Be somebody else</p>
					<ul>
						{workspace.people
							.filter((one) => one.kind !== 'bot')
							.map((person) => (
								<li key={person.id} className={person.id === me.id ? 'switcher-me' : ''}>
									<a href={addressAs(person.name)} aria-current={person.id === me.id ? 'true' : undefined}>
										<Avatar person={person} size="small" />
										<span>
											{person.realName}
											<small>{KINDS[person.kind]}</small>
										</span>
									</a>
									<a
										className="switcher-window"
										href={addressAs(person.name)}
										target="_blank"
										rel="noopener"
										title="In a new window"
									>
										<Icon name="window" />
										<span className="visually-hidden">{person.realName} in a new window</span>
									</a>
								</li>
							))}
					</ul>
				</div>
			) : null}
			<button
				type="button"
				ref={opener}
				className="switcher-button"
				aria-expanded={isOpen}
				onClick={() => setOpen(!isOpen)}
			>
				<Avatar person={me} size="large" />
				<span className="switcher-name">
					{me.realName}
					<small>{KINDS[me.kind]}</small>
				</span>
				<Icon name="updown" />
				<span className="visually-hidden">: be somebody else</span>
			</button>
		</fieldset>
	);
}
