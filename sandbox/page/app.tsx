import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useDo } from './actions.ts';
import { NamesContext, namesOf } from './blocks/names.ts';
import { ChannelView } from './channel-view.tsx';
import { LiveRegion } from './live-region.tsx';
import { ModalStack } from './modal-stack.tsx';
import type { createPageStore } from './page-state.ts';
import { Panel } from './panels/panel.tsx';
import { usePlace } from './place.ts';
import { useRegionKey } from './region-key.ts';
import { Sidebar } from './sidebar.tsx';
import { Thread } from './thread.tsx';
import { Toasts } from './toast.tsx';

type Store = ReturnType<typeof createPageStore>;

/** A window of the workspace. */
export function App({ store }: { store: Store }) {
	const { data, isConnected } = useSyncExternalStore(store.subscribe, store.get);
	const [place, go] = usePlace();
	const [isSidebarOpen, setSidebarOpen] = useState(false);
	const doIt = useDo();
	const names = useMemo(() => (data === null ? null : namesOf(data.workspace, data.channels)), [data]);
	const title = data === null ? '' : `${data.workspace.me.realName} · ${data.workspace.team.name}`;
	useRegionKey();
	useEffect(() => {
		document.title = title === '' ? 'Handraise sandbox' : `${title} · Handraise sandbox`;
	}, [title]);

	if (data === null || names === null) {
		return (
			<main className="starting">
				<p role="status">Starting the workspace…</p>
			</main>
		);
	}
	const channel = data.channels.find((one) => one.id === place.channel) ?? data.channels[0] ?? null;
	const parent = data.messages.find((one) => one.channel === channel?.id && one.ts === place.thread) ?? null;
	const hasModal = data.modals.length > 0;
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
								data={data}
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
									data={data}
									channel={channel}
									onThread={(ts) => go({ channel: channel.id, thread: ts })}
									onSidebar={() => setSidebarOpen(!isSidebarOpen)}
								/>
							)}
							{channel === null || parent === null ? null : (
								<Thread
									key={parent.ts}
									data={data}
									channel={channel}
									parent={parent}
									onClose={() => go({ channel: channel.id, thread: null })}
								/>
							)}
						</div>
						<ModalStack modals={data.modals} workspace={data.workspace} />
					</div>
					<Panel data={data} />
				</div>
				<LiveRegion data={data} />
			</Toasts>
		</NamesContext>
	);
}
