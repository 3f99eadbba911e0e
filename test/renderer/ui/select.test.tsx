import { render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { Select } from '../../../src/renderer/ui/index.ts'

const items = Array.from({ length: 40 }, (_, index) => ({
  value: String(index),
  label: `${index % 2 === 0 ? 'Work' : 'Home'} · model-${index}`,
}))

function Picker({ onChosen }: { onChosen: (value: string) => void }) {
  const [value, setValue] = useState('3')
  const change = (next: string): void => {
    setValue(next)
    onChosen(next)
  }
  return <Select label="Model" value={value} items={items} onChange={change} />
}

test('a long list is narrowed by words in any order, chosen from with the keys alone, and says where nothing matches', async () => {
  const chosen: string[] = []
  const user = userEvent.setup()
  render(<Picker onChosen={(value) => chosen.push(value)} />)
  const trigger = screen.getByRole('combobox', { name: 'Model' })
  expect(trigger.textContent).toContain('Home · model-3')
  await user.tab()
  await user.keyboard('{Enter}')
  await user.type(await screen.findByRole('combobox', { name: 'Search: Model' }), 'MODEL-1 work')
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(
    [10, 12, 14, 16, 18].map((index) => `Work · model-${index}`),
  )
  await user.keyboard('{Enter}')
  expect(chosen).toEqual(['10'])
  expect(trigger.textContent).toContain('Work · model-10')
  expect(document.activeElement).toBe(trigger)
  await user.keyboard('{Enter}')
  await user.type(await screen.findByRole('combobox', { name: 'Search: Model' }), 'zzz')
  expect(await screen.findByText('Nothing matches.')).toBeDefined()
})
