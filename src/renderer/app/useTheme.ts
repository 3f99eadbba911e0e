import { useEffect } from 'react'
import { useTopic } from '../stores/app-stores.tsx'

/** The theme that a person chose, on the root element; the system's without a choice. */
export function useTheme(): void {
  const theme = useTopic('settings', (state) => state.value['theme'])
  useEffect(() => {
    const root = document.documentElement
    if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme
    else delete root.dataset['theme']
  }, [theme])
}
