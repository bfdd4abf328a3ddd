import type { RefusedLink } from '../links.ts';

const ONE: Readonly<Record<RefusedLink, string>> = {
	privateNetwork: 'its link leads to a private network and is not shown',
	notHttps: 'its link does not use https and is not shown',
	userName: 'its link carries a user name and is not shown',
	unusable: 'its link cannot be used and is not shown',
};
const SEVERAL: Readonly<Record<RefusedLink, string>> = {
	privateNetwork: 'their links lead to a private network and are not shown',
	notHttps: 'their links do not use https and are not shown',
	userName: 'their links carry a user name and are not shown',
	unusable: 'their links cannot be used and are not shown',
};

/** `2 files: their links lead to a private network and are not shown` */
export function refusedFilesWords(why: RefusedLink, count: number): string {
	return count === 1 ? `1 file: ${ONE[why]}` : `${count} files: ${SEVERAL[why]}`;
}

/** `Latest screenshot: its link leads to a private network and is not shown` */
export function refusedScreenshotWords(why: RefusedLink): string {
	return `Latest screenshot: ${ONE[why]}`;
}
