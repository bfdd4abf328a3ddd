import { type ReactNode, useCallback, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { TextObject, words } from './blocks/text-object.tsx';
import { keepTabInside } from './focus-trap.ts';
import { type Json, str } from './json.ts';
import { focusAgain, focusPlace } from './kept-focus.ts';

interface Asked {
	confirm: Json;
	decide: (yes: boolean) => void;
}

function ConfirmDialog({ asked }: { asked: Asked }) {
	const root = useRef<HTMLDivElement>(null);
	const { confirm, decide } = asked;
	return (
		<div className="shade shade-confirm">
			<div
				ref={root}
				className="dialog dialog-confirm"
				role="alertdialog"
				aria-modal="true"
				aria-labelledby="confirm-title"
				aria-describedby="confirm-text"
				onKeyDown={(event) => {
					if (event.key === 'Escape') decide(false);
					if (root.current !== null) keepTabInside(event, root.current);
					event.stopPropagation();
				}}
			>
				<header className="dialog-head">
					<h2 id="confirm-title">{words(confirm.title)}</h2>
				</header>
				<div className="dialog-body" id="confirm-text">
					<TextObject of={confirm.text} />
				</div>
				<footer className="dialog-foot">
					<button type="button" className="button" onClick={() => decide(false)}>
						{words(confirm.deny) || 'Cancel'}
					</button>
					<button
						type="button"
						className={`button ${str(confirm, 'style') === 'danger' ? 'button-danger-full' : 'button-primary'}`}
						ref={(button) => button?.focus()}
						onClick={() => decide(true)}
					>
						{words(confirm.confirm) || 'OK'}
					</button>
				</footer>
			</div>
		</div>
	);
}

/** Asks for confirmation where an element wants it. Resolves at once where none is needed. */
export function useConfirm(): { confirm: (confirm: Json | null) => Promise<boolean>; dialog: ReactNode } {
	const [asked, setAsked] = useState<Asked | null>(null);
	const confirm = useCallback((wanted: Json | null) => {
		if (wanted === null) return Promise.resolve(true);
		const from = focusPlace(document.activeElement);
		return new Promise<boolean>((resolve) => {
			setAsked({
				confirm: wanted,
				decide(yes) {
					setAsked(null);
					resolve(yes);
					if (from !== null) focusAgain(from);
				},
			});
		});
	}, []);
	return { confirm, dialog: asked === null ? null : createPortal(<ConfirmDialog asked={asked} />, document.body) };
}
