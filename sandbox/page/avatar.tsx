import type { WirePerson } from '../wire.ts';
import { Icon } from './icons.tsx';

/** Initials on the person's colour; the app has its raised hand. */
export function Avatar({ person, size }: { person: WirePerson | null; size: 'small' | 'large' }) {
	const isBot = person === null || person.kind === 'bot';
	const initials = (person?.realName ?? '')
		.split(/\s+/)
		.map((word) => word.slice(0, 1))
		.join('')
		.slice(0, 2);
	const tone = isBot
		? 'bot'
		: String(Array.from(person?.id ?? '').reduce((sum, one) => sum + one.charCodeAt(0), 0) % 5);
	return (
		<span className={`avatar avatar-${size} avatar-${tone}`} aria-hidden="true">
			{isBot ? <Icon name="hand" /> : initials}
		</span>
	);
}
