// Rules of our own for oxlint: what the oldest browsers that are promised do not have, and TypeScript's libraries do.
import { newerMethods } from './shipped.js';

/** A rule that reports members of these names, all or only those that are called. */
const noMember = (pattern, called, message) => ({
  create: (context) => ({
    MemberExpression(node) {
      const { computed, property, parent } = node;
      const isCalled = parent.type === 'CallExpression' && parent.callee === node;
      if (computed || !pattern.test(property.name) || (called && !isCalled)) return;
      context.report({ node: property, message });
    },
  }),
});

export default {
  meta: { name: 'qkv' },
  rules: {
    'no-newer-methods': noMember(
      new RegExp(`^(${newerMethods.join('|')})$`),
      true,
      'Chrome 91 has no such method.',
    ),
    // What is set there is an attribute for nobody.
    'no-aria-properties': noMember(
      /^aria[A-Z]/,
      false,
      'Firefox has no such property before 119: set or get the attribute.',
    ),
  },
};
