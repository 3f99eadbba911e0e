import { expect, test } from 'vitest'
import {
  changeKind,
  changedPaths,
  diffContent,
  editChanges,
} from '../../../../../src/main/workers/drivers/codex/file-change.ts'

test('a new and a deleted file are shown whole', () => {
  const { changes, exact } = editChanges([
    { path: '/p/new.txt', kind: { type: 'add' }, diff: 'hello\nthere\n' },
    { path: '/p/old.txt', kind: { type: 'delete' }, diff: 'gone\n' },
  ])
  expect(exact).toBe(true)
  expect(changes).toEqual([
    { path: '/p/new.txt', oldText: null, newText: 'hello\nthere\n' },
    { path: '/p/old.txt', oldText: 'gone\n', newText: null },
  ])
})

test('a changed file is shown hunk by hunk, both sides', () => {
  const diff = '@@ -1,2 +1,2 @@\n-hello\n+goodbye\n there\n@@ -9,1 +9,2 @@\n end\n+more\n'
  expect(editChanges([{ path: '/p/a', kind: { type: 'update', move_path: null }, diff }])).toEqual({
    exact: true,
    changes: [
      { path: '/p/a', oldText: 'hello\nthere\n', newText: 'goodbye\nthere\n' },
      { path: '/p/a', oldText: 'end\n', newText: 'end\nmore\n' },
    ],
  })
})

test('a missing line break at the end belongs to the side it is said of', () => {
  const diff = '@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n'
  expect(editChanges([{ path: '/p/a', kind: { type: 'update' }, diff }]).changes).toEqual([
    { path: '/p/a', oldText: 'old', newText: 'new\n' },
  ])
})

test('a moved file names both places', () => {
  const change = {
    path: '/p/a',
    kind: { type: 'update' as const, move_path: '/p/b' },
    diff: '@@ -1 +1 @@\n-x\n+y\n',
  }
  expect(changedPaths([change])).toEqual(['/p/a', '/p/b'])
  expect(changeKind([change])).toBe('move')
  expect(editChanges([change]).changes).toEqual([
    { path: '/p/b', oldText: 'x\n', newText: 'y\n' },
    { path: '/p/a', oldText: '', newText: null },
  ])
})

test('what is no diff is shown as it came, and said to be incomplete', () => {
  const edits = editChanges([{ path: '/p/a', kind: { type: 'update' }, diff: 'surprise\n' }])
  expect(edits).toEqual({ exact: false, changes: [{ path: '/p/a', oldText: null, newText: 'surprise\n' }] })
  expect(diffContent([{ path: '/p/a', kind: { type: 'delete' }, diff: 'x\n' }])).toEqual([
    { type: 'diff', path: '/p/a', oldText: 'x\n', newText: '' },
  ])
})
