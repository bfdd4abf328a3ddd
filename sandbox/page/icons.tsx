import type { ReactNode } from 'react';

/** Drawn here, so that the page looks the same on machines without an emoji font. */
const PATHS = {
	hand: (
		<path d="M8.2 11V4.6a1.2 1.2 0 0 1 2.4 0V10m0-6.2a1.2 1.2 0 0 1 2.4 0V10m0-4.9a1.2 1.2 0 0 1 2.4 0v6.4m0-3.2a1.2 1.2 0 0 1 2.4 0V14c0 3.9-2.6 7-6.4 7-3 0-4.6-1.4-6-4.2l-1.7-3.5c-.7-1.5 1.1-2.6 2.2-1.3l2.3 2.6" />
	),
	lock: <path d="M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3" />,
	guide: (
		<>
			<circle cx="12" cy="12" r="9" />
			<path d="M9.4 9.3a2.7 2.7 0 1 1 3.6 2.9c-.7.3-1 .8-1 1.6M12 17h.01" />
		</>
	),
	robot: (
		<>
			<rect x="4.5" y="8" width="15" height="11" rx="3" />
			<path d="M12 8V4.5M9.2 12.5v1.5M14.8 12.5v1.5" />
		</>
	),
	bolt: <path d="M13 3 5 13.5h6L10.5 21 19 10.5h-6z" />,
	traffic: <path d="M4 8.5h14m-4-4 4 4-4 4M20 15.5H6m4-4-4 4 4 4" />,
	send: <path d="M4 5l17 7-17 7 2.4-7zM6.4 12H14" />,
	thread: <path d="M4 5h16v11H11l-4 4v-4H4z" />,
	dotsAcross: <path d="M5.5 12h.01M12 12h.01M18.5 12h.01" />,
	down: <path d="M7 10l5 5 5-5" />,
	calendar: <path d="M4.5 6h15v13.5h-15zM4.5 10h15M8.500 3.500V7M15.500 3.500V7" />,
	clock: (
		<>
			<circle cx="12" cy="12" r="8.5" />
			<path d="M12 7v5l3.500 2" />
		</>
	),
	dots: <path d="M12 5.5h.01M12 12h.01M12 18.5h.01" />,
	eye: (
		<>
			<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" />
			<circle cx="12" cy="12" r="2.8" />
		</>
	),
	close: <path d="M6 6l12 12M18 6 6 18" />,
	warning: <path d="M12 4 2.8 19.5h18.4zM12 10v4.5M12 17h.01" />,
	updown: <path d="M8 9.5 12 5.5l4 4M8 14.5l4 4 4-4" />,
	window: <path d="M14 4h6v6M20 4l-8.5 8.5M18 14v6H4V6h6" />,
	braces: (
		<path d="M9 4c-3 0-2 4-2.500 6-.3 1.200-1.500 2-2.500 2 1 0 2.200.8 2.500 2 .5 2-.5 6 2.500 6M15 4c3 0 2 4 2.500 6 .3 1.200 1.500 2 2.500 2-1 0-2.200.8-2.500 2-.5 2 .5 6-2.500 6" />
	),
	menu: <path d="M4 6.500h16M4 12h16M4 17.500h16" />,
} satisfies Record<string, ReactNode>;

export function Icon({ name }: { name: keyof typeof PATHS }) {
	return (
		<svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
			{PATHS[name]}
		</svg>
	);
}
