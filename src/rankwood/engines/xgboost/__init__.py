"""The engine on XGBoost."""
