import { expect, it } from 'vitest';
import { sharingOf } from '../../src/slack/channels.ts';

type Flags = Parameters<typeof sharingOf>[0];

const OWN: Flags = { is_shared: false, is_ext_shared: false, is_pending_ext_shared: false, is_org_shared: false };

it.each<[string, Flags, ReturnType<typeof sharingOf>]>([
	['a channel of the own workspace', OWN, 'none'],
	['one without a word on the organisation', { ...OWN, is_org_shared: undefined } as unknown as Flags, 'none'],
	['one of several workspaces', { ...OWN, is_shared: true, is_org_shared: true }, 'organisation'],
	['one shared with another organisation', { ...OWN, is_shared: true, is_ext_shared: true }, 'external'],
	['one that another organisation is invited to', { ...OWN, is_pending_ext_shared: true }, 'external'],
	['both', { ...OWN, is_shared: true, is_org_shared: true, is_ext_shared: true }, 'external'],
	[
		'an invitation to one of several',
		{ is_shared: true, is_org_shared: true, is_pending_ext_shared: true },
		'external',
	],
	['one shared with nobody knows whom', { ...OWN, is_shared: true }, 'unclear'],
	['one of several workspaces that is not shared', { ...OWN, is_org_shared: true }, 'unclear'],
	['no flags', {}, 'unclear'],
	['no word on sharing', { is_ext_shared: false, is_pending_ext_shared: false }, 'unclear'],
	['no word on other organisations', { is_shared: false, is_pending_ext_shared: false }, 'unclear'],
	['no word on invitations', { is_shared: true, is_org_shared: true, is_ext_shared: false }, 'unclear'],
])('returns who else reads a channel: %s', (_, flags, sharing) => {
	expect(sharingOf(flags)).toBe(sharing);
});
