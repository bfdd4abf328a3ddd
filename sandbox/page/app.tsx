import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { NamesContext, namesOf } from './blocks/names.ts';
import { ChannelView } from './channel-view.tsx';
import { useDo } from './deeds.ts';
import { LiveRegion } from './live-region.tsx';
import { ModalStack } from './modal-stack.tsx';
import { Panel } from './panels/panel.tsx';
import { usePlace } from './place.ts';
import { useRegionKey } from './region-key.ts';
import { Sidebar } from './sidebar.tsx';
import { Thread } from './thread.tsx';
import { Toasts } from './toast.tsx';
import type { createWorldStore } from './world.ts';

type Store = ReturnType<typeof createWorldStore>;

/** A window of the workspace with everything in it. */
export function App({ store }: { store: Store }) {
	const { world, isConnected } = useSyncExternalStore(store.subscribe, store.get);
	const [place, go] = usePlace();
	const [isSidebarOpen, setSidebarOpen] = useState(false);
	const doIt = useDo();
	const names = useMemo(() => (world === null ? null : namesOf(world.workspace, world.channels)), [world]);
	const title = world === null ? '' : `${world.workspace.me.realName} · ${world.workspace.team.name}`;
	useRegionKey();
	useEffect(() => {
		document.title = title === '' ? 'Handraise sandbox' : `${title} · Handraise sandbox`;
	}, [title]);

	if (world === null || names === null) {
		return (
			<main className="starting">
				<p role="status">Starting the workspace…</p>
			</main>
		);
	}
	const channel = world.channels.find((one) => one.id === place.channel) ?? world.channels[0] ?? null;
	const parent = world.messages.find((one) => one.channel === channel?.id && one.ts === place.thread) ?? null;
	const hasModal = world.modals.length > 0;
	async function openApp(): Promise<void> {
		const { channel: id } = await doIt<{ channel: string }>('act', { do: 'openApp', tab: 'messages' });
		if (id !== undefined) go({ channel: id, thread: null });
	}
	return (
		<NamesContext value={names}>
			<Toasts>
				<div className="workspace">
					<div className="slack">
						<div className={isSidebarOpen ? 'client client-sidebar' : 'client'} inert={hasModal}>
							<a className="skip" href="#composer">
								Skip to the message box
							</a>
							{isConnected ? null : (
								<p className="offline" role="alert">
									The sandbox does not answer. Trying again…
								</p>
							)}
							<Sidebar
								world={world}
								current={channel?.id ?? null}
								onChoose={(id) => {
									setSidebarOpen(false);
									go({ channel: id, thread: null });
								}}
								onOpenApp={() => {
									setSidebarOpen(false);
									void openApp();
								}}
								onClose={() => setSidebarOpen(false)}
							/>
							{channel === null ? (
								<main className="channel">
									<p className="empty">This person is in no channel yet.</p>
								</main>
							) : (
								<ChannelView
									key={channel.id}
									world={world}
									channel={channel}
									onThread={(ts) => go({ channel: channel.id, thread: ts })}
									onSidebar={() => setSidebarOpen(!isSidebarOpen)}
								/>
							)}
							{channel === null || parent === null ? null : (
								<Thread
									key={parent.ts}
									world={world}
									channel={channel}
									parent={parent}
									onClose={() => go({ channel: channel.id, thread: null })}
								/>
							)}
						</div>
						<ModalStack modals={world.modals} workspace={world.workspace} />
					</div>
					<Panel world={world} />
				</div>
				<LiveRegion world={world} />
			</Toasts>
		</NamesContext>
	);
}
