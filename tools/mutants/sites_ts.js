// Where TypeScript can be mutated: nodes of the compiler's own tree, so that types, imports, strings and comments
// are never touched.
import ts from 'typescript';
import { otherFunctions, otherNumbers, otherOperators } from './replacements.js';

/** What does nothing at run time, or nothing but name things. */
const isDeclaration = (node) =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isTypeParameterDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.getModifiers?.(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true;

const isAssignment = (node) =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
  node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** A call, an assignment or a step, whose result nobody uses as it is a whole statement. */
const isAction = (node) =>
  isAssignment(node) ||
  ts.isPostfixUnaryExpression(node) ||
  ts.isPrefixUnaryExpression(node) ||
  (ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword) ||
  (ts.isAwaitExpression(node) && isAction(node.expression)) ||
  (ts.isVoidExpression(node) && isAction(node.expression));

const hasCondition = (node) =>
  ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node);

/** The condition of a statement or of `a ? b : c`. */
function conditionOf(node) {
  if (hasCondition(node)) return node.expression;
  return ts.isForStatement(node) || ts.isConditionalExpression(node) ? node.condition : undefined;
}

/** What may stand in the place of a condition: its contrary, never, and where it ends by itself, always. */
function ofCondition(node, text) {
  const ends = ts.isIfStatement(node) || ts.isConditionalExpression(node);
  return ends ? [`!(${text})`, 'false', 'true'] : ['false'];
}

/** What a function returns, after `return` or after an arrow. */
function resultOf(node) {
  if (ts.isReturnStatement(node)) return node.expression;
  return ts.isArrowFunction(node) && !ts.isBlock(node.body) ? node.body : undefined;
}

/** What may be returned instead: nothing, and beside a number its neighbour. */
function ofResult(node, text) {
  if (/^(undefined|null|\[\]|\(?\{\}\)?)$/.test(text)) return [];
  const arithmetic = ts.isBinaryExpression(node) && /^[-+*/%]$/.test(node.operatorToken.getText());
  return arithmetic ? ['undefined', `(${text}) + 1`] : ['undefined'];
}

/** Every place of a TypeScript file where something else could stand: { kind, start, end, others }. */
export function tsSites(source) {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const sites = [];
  const add = (kind, node, others) => {
    const site = { kind, start: node.getStart(file), end: node.getEnd(), others };
    if (others.length > 0) sites.push(site);
  };
  const sign = (node, text, others) => {
    const start = ts.isPostfixUnaryExpression(node) ? node.getEnd() - text.length : node.getStart();
    if (others.length > 0)
      sites.push({ kind: 'operator', start, end: start + text.length, others });
  };

  function ofOperator(node) {
    if (ts.isBinaryExpression(node)) {
      const { operatorToken, left } = node;
      add('operator', operatorToken, otherOperators(operatorToken.getText()));
      // Without what stands in when the first is missing.
      if (operatorToken.getText() === '??') add('operator', node, [left.getText()]);
    }
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      const text = ts.tokenToString(node.operator);
      sign(node, text, /^[-!~]$/.test(text) ? [''] : otherOperators(text));
    }
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      if (expression.getText() === 'Math') add('operator', name, otherFunctions(name.text));
    }
  }

  function ofConstant(node) {
    const named = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
    if (ts.isNumericLiteral(node) && !named) add('constant', node, otherNumbers(node.getText()));
    if (node.kind === ts.SyntaxKind.TrueKeyword) add('constant', node, ['false']);
    if (node.kind === ts.SyntaxKind.FalseKeyword) add('constant', node, ['true']);
  }

  function visit(node) {
    if (isDeclaration(node)) return;
    ofOperator(node);
    ofConstant(node);
    const condition = conditionOf(node);
    if (condition) add('condition', condition, ofCondition(node, condition.getText()));
    const result = resultOf(node);
    if (result) add('return', result, ofResult(result, result.getText()));
    if (ts.isExpressionStatement(node) && isAction(node.expression)) {
      add('statement', node, [';']);
    }
    node.forEachChild(visit);
  }
  file.forEachChild(visit);
  return sites.sort((a, b) => a.start - b.start || b.end - a.end);
}
