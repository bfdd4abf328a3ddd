import { type Block, Message } from 'slack-blocks-to-jsx';
import type { Json } from '../json.ts';
import { safeAddress } from './mrkdwn.tsx';

/** Blocks that a library draws and that the app's modals do not use: Markdown, rich text, tables and the like. */
export function RichBlock({ block }: { block: Json }) {
	return (
		<Message
			logo=""
			name=""
			theme="light"
			withoutWrapper
			blocks={[block as unknown as Block]}
			hooks={{
				link: ({ href, children }) =>
					safeAddress(href) === null ? (
						<span>{children}</span>
					) : (
						<a className="link" href={href} target="_blank" rel="noreferrer noopener">
							{children}
						</a>
					),
			}}
		/>
	);
}
