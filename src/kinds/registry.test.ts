import { expect, test } from 'vitest'
import { noteKind, widgetKind } from './fake-kinds.suite.js'
import { createRegistry } from './registry.js'

test('a key of the store belongs to the kind whose prefix it has', () => {
  const registry = createRegistry()
  const [notes, widgets] = [noteKind(), widgetKind()]
  registry.put(notes)
  registry.put(widgets)
  expect(registry.ofKey('/notes/a/b')).toBe(notes)
  expect(registry.ofKey(`${widgets.keyPrefix}a/b`)).toBe(widgets)
  expect(registry.ofKey('/others/a/b')).toBeUndefined()
  const changed = { ...widgets }
  registry.put(changed)
  expect(registry.ofKey(`${widgets.keyPrefix}a/b`)).toBe(changed)
  registry.remove(widgets.group, widgets.names.plural)
  expect(registry.ofKey(`${widgets.keyPrefix}a/b`)).toBeUndefined()
})

test('a change names the group, whose kinds can be read without the others', () => {
  const registry = createRegistry()
  const changed: string[] = []
  const stop = registry.onChange(group => changed.push(group))
  const widgets = widgetKind()
  const renamed = { ...widgets, names: { ...widgets.names, plural: 'others' }, keyPrefix: '/others/' }
  registry.put(noteKind())
  registry.put(widgets)
  registry.put(renamed)
  expect([...registry.inGroup(widgets.group)]).toEqual([widgets, renamed])
  registry.remove(widgets.group, 'widgets')
  expect([...registry.inGroup(widgets.group)]).toEqual([renamed])
  registry.remove(widgets.group, 'others')
  registry.remove(widgets.group, 'others')
  expect([...registry.inGroup(widgets.group)]).toEqual([])
  expect(changed).toEqual(['', ...Array.from({ length: 4 }, () => widgets.group)])
  stop()
  registry.put(widgets)
  expect(changed).toHaveLength(5)
})
