/** Where blocks stand; decides which blocks and elements Slack takes. */
export type Surface = 'message' | 'modal' | 'home';

/** The `error` of Slack's answer. */
export type SlackErrorCode =
	| 'invalid_blocks'
	| 'invalid_blocks_format'
	| 'invalid_attachments'
	| 'invalid_metadata_format'
	| 'msg_blocks_too_long'
	| 'msg_too_long'
	| 'metadata_too_large'
	| 'no_text'
	| 'invalid_arguments'
	| 'view_too_large'
	| 'not_in_this_fake_slack';

/** One reason for which Slack would refuse a payload. */
export type SlackProblem = {
	/** What the Web API method answers in `error`. */
	error: SlackErrorCode;
	/** As Slack words it, pointer included: `no more than 25 items allowed [json-pointer:/blocks/1/elements]`. */
	message: string;
	/** JSON pointer (RFC 6901): `/blocks/…` in a message, `/view/…` in a view, as Slack gives it. */
	pointer: string;
};
