import { expect, test } from 'vitest'
import { checkAdmissionPlugins } from './admission-plugins.js'

test.each([
  [{ enabled: ['Foo'], disabled: [] }, 'enable-admission-plugins plugin "Foo" is unknown'],
  [
    { enabled: [], disabled: ['NamespaceLifecyle'] },
    'disable-admission-plugins plugin "NamespaceLifecyle" is unknown; did you mean NamespaceLifecycle?',
  ],
  [
    { enabled: ['LimitRanger'], disabled: ['LimitRanger'] },
    '[LimitRanger] in enable-admission-plugins and disable-admission-plugins overlapped',
  ],
])('%j is refused', (options, message) => {
  expect(() => checkAdmissionPlugins(options)).toThrow(message)
})

test('a plugin that is switched on and not available gives a warning', () => {
  expect(checkAdmissionPlugins({ enabled: ['LimitRanger', 'NamespaceExists'], disabled: ['ServiceAccount'] })).toEqual([
    'the admission plugin NamespaceExists has no effect: NamespaceLifecycle includes it',
  ])
})
