import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { WireModal } from '../wire.ts';
import { useDo } from './actions.ts';
import { Blocks } from './blocks/blocks.tsx';
import { type Surface, SurfaceContext } from './blocks/surface.ts';
import { flushTyping } from './blocks/text-input.tsx';
import { words } from './blocks/text-object.tsx';
import { copyForBuilder } from './builder.ts';
import { focusablesIn, keepTabInside, useFocusInside } from './focus-trap.ts';
import { Icon } from './icons.tsx';
import { list, str } from './json.ts';
import { useToast } from './toast.tsx';
import { useFills } from './use-fills.ts';

interface ModalProps {
	modal: WireModal;
	depth: number;
	appName: string;
}

/** A modal as Slack shows it: title, body, errors under fields, Submit that waits for the app. */
export function Modal({ modal, depth, appName }: ModalProps) {
	const doIt = useDo();
	const toast = useToast();
	const root = useRef<HTMLDivElement>(null);
	const [isSubmitting, setSubmitting] = useState(false);
	const { fill, settled } = useFills(modal.id);
	const { payload, inputs, fieldErrors, trouble } = modal;
	const blocks = useMemo(() => list(payload, 'blocks'), [payload]);
	useFocusInside(root, modal.hash);

	// Focuses the first error once for each submission. Every letter typed later brings the remaining errors again, and
	// they must not take the focus from the field with the letter.
	const awaitsErrors = useRef(false);
	useLayoutEffect(() => {
		if (!awaitsErrors.current || Object.keys(fieldErrors).length === 0) return;
		const wrong = root.current?.querySelector<HTMLElement>('.block-input-wrong');
		if (wrong === null || wrong === undefined) return;
		awaitsErrors.current = false;
		focusablesIn(wrong)[0]?.focus();
		wrong.scrollIntoView({ block: 'nearest' });
	}, [fieldErrors]);

	const surface = useMemo<Surface>(
		() => ({
			id: modal.id,
			inputs,
			fieldErrors,
			async press(blockId, actionId, option) {
				flushTyping();
				await settled();
				const press = { do: 'pressInModal', viewId: modal.id, blockId, actionId, option };
				return (await doIt<{ acked: boolean }>('act', press)).acked === true;
			},
			fill(...typed) {
				awaitsErrors.current = false;
				return fill(...typed);
			},
		}),
		[modal.id, inputs, fieldErrors, fill, settled, doIt],
	);

	const hasSubmit = payload.submit !== undefined;
	async function submit(): Promise<void> {
		if (!hasSubmit || isSubmitting) return;
		setSubmitting(true);
		flushTyping();
		await settled();
		awaitsErrors.current = true;
		await doIt('act', { do: 'submit' });
		setSubmitting(false);
	}
	async function close(all: boolean): Promise<void> {
		flushTyping();
		await settled();
		await doIt('act', { do: 'close', all });
	}
	function onKeyDown(event: KeyboardEvent<HTMLDivElement>): void {
		if (root.current !== null) keepTabInside(event, root.current);
		if (event.nativeEvent.isComposing) return;
		if (event.key === 'Escape') {
			event.preventDefault();
			void close(false);
			return;
		}
		if (event.key !== 'Enter') return;
		const { target } = event;
		const isLine = target instanceof HTMLInputElement && !['radio', 'checkbox'].includes(target.type);
		const isQuick = (event.metaKey || event.ctrlKey) && target instanceof HTMLElement;
		if (!isLine && !isQuick) return;
		event.preventDefault();
		void submit();
	}
	return (
		<div
			ref={root}
			className="dialog dialog-modal"
			role="dialog"
			aria-modal="true"
			aria-labelledby="modal-title"
			tabIndex={-1}
			data-view-id={modal.id}
			data-callback-id={str(payload, 'callback_id')}
			onKeyDown={onKeyDown}
		>
			<header className="dialog-head">
				<span className="avatar avatar-small avatar-bot" aria-hidden="true">
					<Icon name="hand" />
				</span>
				<h2 id="modal-title">{words(payload.title)}</h2>
				<button
					type="button"
					className="close close-quiet"
					title="Copy for Block Kit Builder"
					aria-label="Copy this modal for Block Kit Builder"
					onClick={() => void copyForBuilder({ view: modal.id }).then(toast)}
				>
					<Icon name="braces" />
				</button>
				<button
					type="button"
					className="close"
					aria-label={depth > 1 ? 'Close all' : 'Close'}
					onClick={() => void close(true)}
				>
					<Icon name="close" />
				</button>
			</header>
			{trouble === null ? null : (
				<p className="dialog-trouble" role="alert">
					<Icon name="warning" /> {trouble}
				</p>
			)}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys. */}
			<section className="dialog-body" aria-label="Content" tabIndex={0}>
				<SurfaceContext value={surface}>
					<Blocks blocks={blocks} isFirstSpoken />
				</SurfaceContext>
			</section>
			<footer className="dialog-foot">
				<span className="dialog-app">{appName}</span>
				<button type="button" className="button" onClick={() => void close(false)}>
					{words(payload.close) || (depth > 1 ? 'Back' : hasSubmit ? 'Cancel' : 'Close')}
				</button>
				{hasSubmit ? (
					<button
						type="button"
						className="button button-primary"
						aria-busy={isSubmitting}
						aria-disabled={isSubmitting}
						onClick={() => void submit()}
					>
						{words(payload.submit)}
						{isSubmitting ? <span className="spinner" aria-hidden="true" /> : null}
					</button>
				) : null}
			</footer>
		</div>
	);
}
