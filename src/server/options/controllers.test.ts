import { expect, test } from 'vitest'
import { checkControllers, controllerWarnings, isControllerOn } from './controllers.js'

const NAMESPACES = 'namespace-controller'

test.each([
  [['*'], true],
  [[], false],
  [[NAMESPACES], true],
  [['garbage-collector-controller'], false],
  [['*', `-${NAMESPACES}`], false],
  [[`-${NAMESPACES}`, NAMESPACES, '*'], false],
])('with %j the namespace controller runs: %j', (names, isOn) => {
  expect(isControllerOn(NAMESPACES, names)).toBe(isOn)
})

test('a name that kube-controller-manager does not have is refused, with the one that was probably meant', () => {
  expect(() => checkControllers(['*', '-namespace-controler'], '--controllers')).toThrow(
    '--controllers: "namespace-controler" is not in the list of known controllers: did you mean namespace-controller?',
  )
})

test('a controller that is not here may be named, which has no effect', () => {
  const names = ['*', 'ttl-controller', '-token-cleaner-controller']
  expect(checkControllers(names, '--controllers')).toBe(names)
  expect(controllerWarnings(names)).toEqual(['--controllers: ttl-controller has no effect here'])
})
