import { useState } from 'react';
import { type Json, str } from '../json.ts';

/** An image, shown through the sandbox as Slack does through its proxy. */
export function BlockImage({ of, className }: { of: Json; className: string }) {
	const [hasFailed, setFailed] = useState(false);
	const alt = str(of, 'alt_text');
	if (hasFailed) return <span className={`${className} image-missing`}>🖼️ {alt || 'An image that is not there'}</span>;
	return (
		<img
			className={className}
			alt={alt}
			src={`/sandbox/image?url=${encodeURIComponent(str(of, 'image_url'))}`}
			onError={() => setFailed(true)}
		/>
	);
}
