import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';

const ToastContext = createContext<(words: string) => void>(() => undefined);

export const useToast = () => useContext(ToastContext);

export function Toasts({ children }: { children: ReactNode }) {
	const [toast, setToast] = useState<{ words: string; id: number } | null>(null);
	const say = useCallback((words: string) => setToast((before) => ({ words, id: (before?.id ?? 0) + 1 })), []);
	useEffect(() => {
		if (toast === null) return;
		const timer = setTimeout(() => setToast(null), 5000);
		return () => clearTimeout(timer);
	}, [toast]);
	return (
		<ToastContext value={say}>
			{children}
			<div className="toasts" role="status">
				{toast === null ? null : <p className="toast">{toast.words}</p>}
			</div>
		</ToastContext>
	);
}
