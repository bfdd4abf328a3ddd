import 'slack-blocks-to-jsx/dist/style.css';
import '@fontsource/noto-emoji/400.css';
import './styles.css';
import { createRoot } from 'react-dom/client';
import { createDo, DoContext } from './actions.ts';
import { App } from './app.tsx';
import { Dashboard } from './dashboard.tsx';
import { Gallery } from './gallery.tsx';
import { createPageStore } from './page-state.ts';
import { TryQuestion } from './try-question.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root element.');

const query = new URLSearchParams(location.search);
const person = query.get('as') ?? 'ada';
const frame = query.get('window') ?? 'main';
const doIt = createDo(person, frame);

createRoot(root).render(
	<DoContext value={doIt}>
		{location.pathname.startsWith('/dashboard') ? (
			<Dashboard id={query.get('id') ?? ''} />
		) : location.pathname === '/gallery' ? (
			<Gallery />
		) : location.pathname === '/try' ? (
			<TryQuestion />
		) : (
			<App store={createPageStore(person, frame)} />
		)}
	</DoContext>,
);
