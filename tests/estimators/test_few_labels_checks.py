"""scikit-learn's own checks for the closed-form few-label estimators. The named exceptions must fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators.lssvm import LSSVMClassifier
from mercer.estimators.lssvm_regressor import LSSVMRegressor
from mercer.estimators.rls import RLSClassifier
from mercer.estimators.semi_kpca import SemiKPCA

WEIGHTS = (
    "predict_proba is calibrated on left-out labels, and withholding a row of weight 2 withholds both copies, where "
    "two rows are withheld one at a time; predict and decision_function do agree, see test_few_labels.py"
)
EXPECTED = {
    "check_classifiers_classes": "fits y in {-1, 1}, where -1 may mean unlabeled: refused on purpose",
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
ESTIMATORS = [LSSVMClassifier(), LSSVMClassifier(unlabeled="zero"), RLSClassifier(), SemiKPCA(), LSSVMRegressor()]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda estimator: EXPECTED if hasattr(estimator, "missing_label") else {},
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
