import { type Block, Message } from 'slack-blocks-to-jsx';
import type { Json } from '../json.ts';
import { Mention, safeAddress } from './mrkdwn.tsx';
import { useNames } from './names.ts';

/** Markdown, which a library draws. The fake Slack takes no other block that this page does not draw itself. */
export function RichBlock({ block }: { block: Json }) {
	const names = useNames();
	return (
		<Message
			logo=""
			name=""
			theme="light"
			withoutWrapper
			blocks={[block as unknown as Block]}
			hooks={{
				user: ({ id }) => <Mention mine={id === names.me}>@{names.person(id) ?? id}</Mention>,
				channel: ({ id }) => <Mention mine={false}>#{names.channel(id) ?? id}</Mention>,
				usergroup: ({ id }) => <Mention mine={false}>@{names.userGroup(id) ?? 'group'}</Mention>,
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
